/** Reads the body of a response. @throws the error of `tooLong` if it has more than `maxBytes` bytes */
export async function readBody(
  body: AsyncIterable<Buffer>,
  { maxBytes, tooLong }: { readonly maxBytes: number; readonly tooLong: () => Error },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
