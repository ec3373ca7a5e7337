import type { Template } from '@svc/contract';
import { useState } from 'react';

/** The icon of a template, or its initials. `src` is the address of the icon, if there can be one. */
export function TemplateGlyph({
  template: { name, category_name },
  src,
}: {
  readonly template: Pick<Template, 'name' | 'category_name'>;
  readonly src?: string | undefined;
}) {
  const [failed, setFailed] = useState<string>();
  const hasIcon = src !== undefined && src !== failed;
  return (
    <span className="glyph" data-tint={tintOf(category_name)} aria-hidden>
      {hasIcon ? <img src={src} alt="" width={36} height={36} onError={() => setFailed(src)} /> : initialsOf(name)}
    </span>
  );
}

/** The first letters of the first two words, or of the only word. */
function initialsOf(name: string): string {
  const [first = '', second] = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [one = '', other = ''] = first;
  return `${one}${second === undefined ? other : ([...second][0] ?? '')}`.toUpperCase();
}

const TINTS = 6;

/** The colour of a category, as a number that the styles know. */
const tintOf = (category: string): number =>
  [...category].reduce((sum, character) => (31 * sum + (character.codePointAt(0) ?? 0)) % 1_000_003, 0) % TINTS;
