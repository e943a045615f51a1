# gqd/store
