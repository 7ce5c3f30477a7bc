# cmake -DINPUT=FILE -DOUTPUT=FILE.c -DNAME=NAME -P Embed.cmake: a file as an array of bytes, NAME,
# and its size, NAME_size.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <stddef.h>
extern const unsigned char ${NAME}[];
extern const size_t ${NAME}_size;
const unsigned char ${NAME}[] = {\n${bytes}};
const size_t ${NAME}_size = sizeof ${NAME};
")
