#!/usr/bin/env bash
# Runs a test of the vulkan backend under the validation layer, with checks of synchronisation: the
# layer must have nothing to say.
#
#   validate.sh TEST
set -euo pipefail

if ! grep -qs VK_LAYER_KHRONOS_validation /usr/share/vulkan/explicit_layer.d/*.json \
    /etc/vulkan/explicit_layer.d/*.json; then
    echo "skipped: there is no validation layer (package vulkan-validationlayers)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.log_filename = $work/log
khronos_validation.report_flags = error,warn,perf
khronos_validation.validate_sync = true
END
status=0
VK_LAYER_SETTINGS_PATH=$work VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation "$1" || status=$?
if [ "$status" = 77 ]; then
    exit 77
fi
if [ ! -e "$work/log" ]; then
    echo "the layer was not there"
    exit 1
fi
if [ -s "$work/log" ]; then
    head -50 "$work/log"
    exit 1
fi
exit "$status"
