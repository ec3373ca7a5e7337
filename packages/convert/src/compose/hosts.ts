import type { ApplicationPart } from '../application.ts';

/** Names of variables whose values are hosts or their addresses. */
const HOST_NAME = /(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS|ENDPOINT)$/i;

/** The parts with the names of parts in variables, where the name of a service is the host of an address. */
export const withPartNames = (
  parts: readonly ApplicationPart[],
  renamed: ReadonlyMap<string, string>,
): readonly ApplicationPart[] =>
  renamed.size === 0
    ? parts
    : parts.map((part) => ({
        ...part,
        ...(part.env && { env: part.env.map(({ name, value }) => ({ name, value: withNames(name, value, renamed) })) }),
      }));

function withNames(name: string, value: string, renamed: ReadonlyMap<string, string>): string {
  let changed = value;
  for (const [service, part] of renamed) {
    const host = `\${parts.${part}.host}`;
    changed = HOST_NAME.test(name) && changed === service ? host : withHost(changed, service, host);
  }
  return changed;
}

/** A text in which a service is replaced where it is the host of a URL or of `host:port`. */
function withHost(text: string, service: string, host: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = text.indexOf(service); at >= 0; at = text.indexOf(service, at + service.length)) {
    const isAfterScheme = text.startsWith('//', at - 2) || text.startsWith('@', at - 1);
    const after = text.slice(at + service.length, at + service.length + 6);
    const isHost = isAfterScheme
      ? /^(?:[:/?,#]|$)/.test(after)
      : at === 0 && /^:\d{1,5}$/.test(text.slice(service.length));
    if (!isHost) continue;
    pieces.push(text.slice(from, at), host);
    from = at + service.length;
  }
  return pieces.length === 0 ? text : [...pieces, text.slice(from)].join('');
}

/** Whether a text of a part contains the name of a service. */
export const isNamedIn = (parts: readonly ApplicationPart[], service: string): boolean =>
  parts.some(({ env = [], command = [], entrypoint = [] }) =>
    [...env.map(({ value }) => value), ...command, ...entrypoint].some((text) => text.includes(service)),
  );
