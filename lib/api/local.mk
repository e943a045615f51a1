# lib/api
