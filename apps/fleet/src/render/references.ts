// References of variables to values of secrets and of other deployments, as a deployment stores them.
import { type AddressForm, addressForms, composedPieces } from '@svc/contract/fleet';
import { z } from 'zod';

const secretReference = z.object({ secret: z.string(), key: z.string().optional() });
const valueReference = z.object({ deployment: z.string(), variable: z.string() });
/** `at` is the address at the last change of the deployment, and the id of the network of a host in which it is; absent while it was never started. */
const addressReference = z.object({
  deployment: z.string(),
  port: z.int(),
  as: z.enum(addressForms),
  at: z
    .object({ host: z.string(), port: z.int(), scheme: z.enum(['http', 'https']), network: z.string().optional() })
    .optional(),
});
export type AddressReference = z.output<typeof addressReference>;
/** A generated value of the application of a part. `id` is that of the sealed value. */
const applicationReference = z.object({ application: z.string(), generated: z.string(), id: z.string() });

export const storedReferences = [secretReference, valueReference, addressReference, applicationReference] as const;
const storedReference = z.union(storedReferences);
export type StoredReference = z.output<typeof storedReference>;

export const storedComposition = z.object({ compose: z.string(), with: z.record(z.string(), storedReference) });
export type StoredComposition = z.output<typeof storedComposition>;

export const isAddress = (reference: StoredReference): reference is AddressReference => 'port' in reference;

/** Whether a composed value contains the value of a secret, or one that was generated. */
export const isSecretComposition = ({ with: references }: StoredComposition): boolean =>
  Object.values(references).some((reference) => !isAddress(reference));

/** An address in the form that a reference requests; '' while it is not known. */
export function addressText({ as, at }: AddressReference): string {
  return at === undefined ? '' : FORMS[as](at);
}

type Address = NonNullable<AddressReference['at']>;

const hostAndPort = ({ host, port }: Address) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

const FORMS: Readonly<Record<AddressForm, (at: Address) => string>> = {
  'host:port': hostAndPort,
  host: ({ host }) => host,
  port: ({ port }) => String(port),
  url: (at) => `${at.scheme}://${hostAndPort(at)}`,
};

/** A piece of a value in the environment of a program: text, or a secret by the name of its placeholder. */
export type Piece = string | { readonly placeholder: string; readonly isEncoded: boolean };

/** The pieces of a composed value, with its addresses as text. */
export function piecesOf({ compose, with: references }: StoredComposition): Piece[] {
  const pieces = composedPieces(compose) ?? [compose];
  return pieces.map((piece): Piece => {
    if (typeof piece === 'string') return piece;
    const reference = Object.hasOwn(references, piece.name) ? references[piece.name] : undefined;
    if (reference === undefined || !isAddress(reference))
      return { placeholder: piece.name, isEncoded: piece.isEncoded };
    return encoded(addressText(reference), piece.isEncoded);
  });
}

/** A text as it is, or percent-encoded for a URL. Characters that Unicode does not permit alone are replaced. */
export const encoded = (text: string, isEncoded: boolean): string =>
  isEncoded ? encodeURIComponent(text.toWellFormed()) : text;
