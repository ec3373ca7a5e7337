import { piecesOf, placeholderPattern } from '../shared/placeholders.ts';

/** What stands for a value that is known only when an application is deployed. */
export type Placeholder =
  /** The value of an input: `${inputs.N}`. */
  | { readonly kind: 'input'; readonly name: string }
  /** A generated value: `${generated.N}`. */
  | { readonly kind: 'generated'; readonly name: string }
  /** The name of a part in the network of the application: `${parts.P.host}`. */
  | { readonly kind: 'host'; readonly part: string }
  /** `host:port` of a port of a part, inside the network: `${parts.P.address.PORT}`. */
  | { readonly kind: 'address'; readonly part: string; readonly port: number }
  /** The URL of a port of a part, inside the network: `${parts.P.url.PORT}`. */
  | { readonly kind: 'url'; readonly part: string; readonly port: number }
  /** The URL of a published port of the part itself, from outside: `${self.url.PORT}`. */
  | { readonly kind: 'own-url'; readonly port: number }
  /** The name of the application in the fleet: `${application.name}`. */
  | { readonly kind: 'application-name' };

/** A piece of a text of a part: text, or a placeholder whose value is inserted, percent-encoded if `isEncoded`. */
export type ApplicationPiece = string | { readonly placeholder: Placeholder; readonly isEncoded: boolean };

const PATTERN = placeholderPattern(/[a-z][a-z0-9_.-]{0,127}/);

/** The texts and the names of placeholders, of which some may not exist. @returns undefined if it is not well-formed */
export const namedPieces = (text: string) => piecesOf(text, PATTERN);

/** The placeholder with this name; undefined if there is none of this form. */
export function placeholderOf(name: string): Placeholder | undefined {
  const [root, first, second, third, ...rest] = name.split('.');
  if (first === undefined || rest.length > 0) return undefined;
  if (second === undefined) {
    if (root === 'inputs') return { kind: 'input', name: first };
    if (root === 'generated') return { kind: 'generated', name: first };
    return name === 'application.name' ? { kind: 'application-name' } : undefined;
  }
  if (third === undefined) {
    if (root === 'parts' && second === 'host') return { kind: 'host', part: first };
    const port = root === 'self' && first === 'url' ? portOf(second) : undefined;
    return port === undefined ? undefined : { kind: 'own-url', port };
  }
  const port = root === 'parts' ? portOf(third) : undefined;
  if (port === undefined || (second !== 'address' && second !== 'url')) return undefined;
  return { kind: second, part: first, port };
}

const portOf = (digits: string): number | undefined => (/^[1-9]\d{0,4}$/.test(digits) ? Number(digits) : undefined);

/**
 * The pieces of a text of a part, as the application declares it. @returns undefined if it is not well-formed, or contains
 * a placeholder of another form
 */
export function applicationPieces(text: string): readonly ApplicationPiece[] | undefined {
  const pieces = namedPieces(text)?.map((piece) => {
    if (typeof piece === 'string') return piece;
    const placeholder = placeholderOf(piece.name);
    return placeholder && { placeholder, isEncoded: piece.isEncoded };
  });
  return pieces?.every((piece) => piece !== undefined) ? pieces : undefined;
}
