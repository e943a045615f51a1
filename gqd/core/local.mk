# gqd/core
