# examples/cuda-hash - a job with state on the card
noinst_PROGRAMS += cuda-hash
cuda_hash_SOURCES = %reldir%/cuda-hash.c
cuda_hash_LDADD = -ldl
