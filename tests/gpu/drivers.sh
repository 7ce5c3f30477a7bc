#!/usr/bin/env bash
# NVIDIA's driver has OpenCL and Vulkan, too. Containers often register neither with its loader, and
# have no loader of Vulkan: then the one in the folder CARRY is taken.
#
#   register_drivers CARRY
register_drivers() {
    local folder
    nvidia-smi >/dev/null 2>&1 || return 0 # other devices are registered where they are
    folder=$(mktemp -d)
    if ! grep -qs nvidia /etc/OpenCL/vendors/*.icd; then
        echo libnvidia-opencl.so.1 >"$folder/nvidia.icd"
        export OCL_ICD_VENDORS=$folder
    fi
    if ! grep -qs nvidia /etc/vulkan/icd.d/*.json /usr/share/vulkan/icd.d/*.json; then
        echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_nvidia.so.0", "api_version": "1.3.0"}}' \
            >"$folder/nvidia.json"
        export VK_ICD_FILENAMES=$folder/nvidia.json
    fi
    if ! ldconfig -p | grep -q 'libvulkan\.so\.1 '; then
        export VYRE_VULKAN=$1/libvulkan.so.1
    fi
}
