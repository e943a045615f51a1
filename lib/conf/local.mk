# lib/conf
