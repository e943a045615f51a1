# gqd/gpu
