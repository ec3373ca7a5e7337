import type { PartPort } from '../application.ts';
import { type Conversion, childOf, type Key, type Piece, Refused } from './context.ts';
import { memberText } from './tree.ts';
import { fieldsOf, withDefaults } from './variables.ts';

/** The maximum number of ports in a range. */
const MAX_RANGE = 16;

interface Requested {
  readonly container: string;
  readonly host: string;
  readonly protocol: string;
  readonly address: string;
}

const SHORT =
  /^(?:(?:(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:]*\]):)?(\d*(?:-\d+)?):)?(\d+(?:-\d+)?)(?:\/(tcp|udp|sctp))?$/i;

function shortForm(text: string): Requested {
  const [whole, address = '', host = '', container = '', protocol = 'tcp'] = SHORT.exec(text) ?? [];
  if (whole === undefined) throw new Refused('is not a port in a form that Compose documents');
  return { container, host, protocol, address };
}

/** A port of the host; '' for a variable without a default, which is no wish. @throws Refused */
const wishIn = (pieces: readonly Piece[]): string =>
  pieces.some((piece) => typeof piece !== 'string' && piece.kind === 'variable' && piece.fallback === undefined)
    ? ''
    : withDefaults(pieces);

/** The text of a mapping of ports. @throws Refused */
const mappingIn = (pieces: readonly Piece[]): string =>
  fieldsOf(pieces)
    .map((field, index, { length }) => (index < length - 1 ? wishIn(field) : withDefaults(field)))
    .join(':');

function rangeOf(text: string): number[] {
  const [from = 0, to = from] = text.split('-').map(Number);
  if (!(from >= 1 && to >= from && to <= 65_535)) throw new Refused('has a port that is not from 1 to 65535');
  if (to - from >= MAX_RANGE) throw new Refused(`has a range of more than ${MAX_RANGE} ports`);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** The published ports of an entry of `ports`. */
export function publishedPorts(conversion: Conversion, key: Key): PartPort[] {
  const { tree } = key;
  if (tree.kind === 'list') throw new Refused('must be a text or a map');
  const textAt = (name: string) => withDefaults(conversion.pieces(memberText(tree, name), key.part));
  const requested: Requested =
    tree.kind === 'text'
      ? shortForm(mappingIn(conversion.pieces(tree.text, key.part)))
      : {
          container: textAt('target'),
          host: wishIn(conversion.pieces(memberText(tree, 'published'), key.part)),
          protocol: textAt('protocol') || 'tcp',
          address: textAt('host_ip'),
        };
  const containers = rangeOf(requested.container);
  const hosts = requested.host === '' ? [] : rangeOf(requested.host);
  if (hosts.length > 0 && hosts.length !== containers.length) throw new Refused('has ranges of different lengths');
  if (tree.kind === 'map')
    refuseUnknown(conversion, key, ['target', 'published', 'protocol', 'host_ip', 'mode', 'name', 'app_protocol']);
  if (isLocal(requested.address)) {
    conversion.note(
      key,
      'The port is for the machine itself. A fleet publishes it at the declared addresses of its host.',
    );
  } else if (hosts.length > 0 || (tree.kind === 'text' ? tree.text.includes(':') : tree.entries.has('published')))
    conversion.harmless(key, 'host_port');
  else conversion.same(key);
  return containers.map((containerPort, index) => ({
    containerPort,
    ...protocolOf(requested.protocol),
    publish: true,
    ...(hosts[index] !== undefined && { host_port: hosts[index] }),
  }));
}

const isLocal = (address: string): boolean => address.startsWith('127.') || address === '[::1]';

/** The protocol of a port; TCP has no member. */
export const protocolOf = (protocol: string): Pick<PartPort, 'protocol'> => {
  const upper = protocol.toUpperCase();
  return upper === 'UDP' || upper === 'SCTP' ? { protocol: upper } : {};
};

/** The ports of an entry of `expose`, which only other parts reach. */
export function exposedPorts(conversion: Conversion, key: Key): PartPort[] {
  const { container, protocol } = shortForm(
    key.tree.kind === 'text' ? withDefaults(conversion.pieces(key.tree.text, key.part)) : '',
  );
  conversion.same(key);
  return rangeOf(container).map((containerPort) => ({ containerPort, ...protocolOf(protocol) }));
}

/** Refuses the members of a map that are not in the list. */
export function refuseUnknown(conversion: Conversion, key: Key, known: readonly string[]): void {
  if (key.tree.kind !== 'map') return;
  for (const [name, tree] of key.tree.entries) {
    if (known.includes(name)) continue;
    const child = childOf(key, name, tree);
    if (name.startsWith('x-')) conversion.harmless(child, 'extension');
    else conversion.refuse(child, 'This member is not known.');
  }
}
