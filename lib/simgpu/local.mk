# lib/simgpu
