# gqd/api
