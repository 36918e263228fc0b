# Applies the document on standard input twice on this node, each time from the same initial network: with nmstate's own apply()
# and with dayone. Prints a line for each: its exit status and last message. The initial network is bare, or the one of
# /root/before.yml.

cat >/root/document.yml
reset
verdict nmstate sh -c 'nmstate-apply </root/document.yml'
reset
mkdir -p $here
# Independent of the host name, which the document may change.
cp /root/document.yml $here/cluster.yml
verdict dayone dayone apply
verdict diff dayone diff
[ "$(tail -n 1 /root/said)" = '# no difference' ] || sed 's/^/: /' /root/said
