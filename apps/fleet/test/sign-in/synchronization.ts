/** A signal that one side awaits and the other sends. */
export function createSignal() {
  let come: () => void = () => undefined;
  const came = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { came, come: () => come() };
}
