/** A listener for connections, which connects each one to another socket that `open` creates. */
export const relay = (open) => (incoming) => {
  const outgoing = open();
  incoming.pipe(outgoing);
  outgoing.pipe(incoming);
  for (const [one, other] of [
    [incoming, outgoing],
    [outgoing, incoming],
  ]) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
};
