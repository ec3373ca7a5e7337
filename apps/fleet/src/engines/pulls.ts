// In this order: Docker says "pull access denied for x, repository does not exist or may require 'docker login'".
const KINDS: readonly (readonly [RegExp, 'AuthFailed' | 'ImageNotFound'])[] = [
  [/manifest unknown|manifest for .* not found|name unknown|repository does not exist|no such image/i, 'ImageNotFound'],
  [
    /unauthorized|authentication required|access (?:to .* is )?denied|denied:|incorrect username|forbidden|no basic auth credentials/i,
    'AuthFailed',
  ],
  [/: not found$/i, 'ImageNotFound'],
];

const MEANINGS = {
  ImageNotFound: 'is not in its registry, or the registry hides it from whoever asks',
  AuthFailed: 'is not given out by its registry to whoever asks',
  ImagePullFailed: 'could not be pulled',
};

/** Why an image does not come, by what its engine says of it. */
export function pullTrouble(said: string): { readonly reason: keyof typeof MEANINGS; readonly meaning: string } {
  const reason = KINDS.find(([pattern]) => pattern.test(said))?.[1] ?? 'ImagePullFailed';
  return { reason, meaning: MEANINGS[reason] };
}
