import type { ApplicationSpec } from '@svc/contract';
import { beyondAutomatic, type Hold, onlyByPerson } from '../../deployments/updates/limits.ts';
import { referencesOf, type StoredEnv } from '../../render/env.ts';
import { type AddressReference, isAddress, type StoredReference } from '../../render/references.ts';
import type { DecidedChange } from '../change.ts';
import { type DecidedPart, retiredParts } from '../decision/decide.ts';
import type { Inputs } from '../inputs.ts';

/** An input that an application of the catalog requires, and that nobody has given. */
export function missingInput({ inputs }: Pick<ApplicationSpec, 'inputs'>, given: Inputs): Hold | undefined {
  const missing = inputs.find((input) => input.required && input.default === null && !Object.hasOwn(given, input.name));
  return missing && onlyByPerson('NewInput', `It requires the input ${missing.name}`);
}

/**
 * What a person must decide about an upgrade, although the application of the catalog contains it: other parts, and for each part what
 * the rules for deployments hold. undefined: an automatic upgrade can be made.
 */
export function beyondAutomaticUpgrade({ before, decided, content }: DecidedChange): Hold | undefined {
  const [removed] = retiredParts(before, decided);
  if (removed) return onlyByPerson('OtherParts', `It removes the part ${removed.part}`);
  const generated = new Set(before.generated.values());
  const held = decided.parts.map(({ compiled: { name }, decided: part }) => {
    const present = before.parts.get(name);
    if (part.kind === 'creation' || !present) return onlyByPerson('OtherParts', `It has another part, ${name}`);
    const subject = `The part ${name}`;
    const was = present.row.part ?? name;
    return (
      beyondAutomatic(present.workload.spec, part.draft.workload.spec, subject) ??
      (addsSecret(part, generated) ? onlyByPerson('NewSecret', `${subject} uses another secret`) : undefined) ??
      (addsPublished(before.content.spec, content.spec, { name, was })
        ? onlyByPerson('NewPort', `${subject} publishes another port`)
        : undefined)
    );
  });
  return held.find((hold) => hold !== undefined);
}

/** Whether a part receives a value of a secret, or one that was generated before, which it did not have. */
function addsSecret(
  { before, draft }: Exclude<DecidedPart['decided'], { kind: 'creation' }>,
  generated: ReadonlySet<string>,
): boolean {
  const known = secretsIn(before.env).map(identityOf);
  return secretsIn(draft.env)
    .filter((reference) => !('generated' in reference) || generated.has(reference.id))
    .some((reference) => !known.includes(identityOf(reference)));
}

type Secret = Exclude<StoredReference, AddressReference>;

const secretsIn = (env: StoredEnv): Secret[] =>
  Object.values(env)
    .flatMap((value) => referencesOf(value).map(([, reference]) => reference))
    .filter((reference): reference is Secret => !isAddress(reference));

function identityOf(reference: Secret): string {
  if ('generated' in reference) return reference.id;
  return 'secret' in reference
    ? `secret ${reference.secret} ${reference.key ?? ''}`
    : `value ${reference.deployment} ${reference.variable}`;
}

const addsPublished = (
  before: ApplicationSpec,
  after: ApplicationSpec,
  { name, was }: { readonly name: string; readonly was: string },
): boolean => publishedIn(after, name).some((port) => !publishedIn(before, was).includes(port));

const publishedIn = ({ parts }: ApplicationSpec, part: string): string[] =>
  (parts.find(({ name }) => name === part)?.ports ?? []).flatMap(({ publish, containerPort, protocol }) =>
    publish ? [`${containerPort}/${protocol}`.toUpperCase()] : [],
  );
