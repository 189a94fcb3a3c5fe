au BufRead,BufNewFile *.tile setfiletype tile
