import { labelOfMember } from '../../shared/catalog/member-labels.ts';
import { t } from '../../shared/texts/texts.ts';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import type { ReadFile } from './application-body.ts';

/** The place of a message in words: the name of a part, an input or a generated value, with the label of the member. */
function placeOf(path: string, { inputs, generated, parts }: ReadFile['application']): string {
  const [list = '', index = '', member] = path.split('.');
  const named = new Map(Object.entries({ inputs, generated, parts })).get(list)?.[Number(index)];
  if (path === 'parts') return t('Parts');
  if (!named) return labelOfMember(path === 'category' ? 'category_id' : path);
  return member === undefined ? named.name : t('{name}: {value}', { name: named.name, value: labelOfMember(member) });
}

/** What the hub has read from a file, with what is allowed in it and is probably a mistake. */
export const FileWarnings = ({ file: { application, warnings } }: { readonly file: ReadFile }) => (
  <Notice
    kind={warnings.length > 0 ? 'warning' : 'info'}
    title={t('{name} has {count, plural, one {# part} other {# parts}}', {
      name: application.name,
      count: application.parts.length,
    })}
  >
    <ul className="bullets">
      {warnings.map(({ path, message }) => (
        <li key={path + message}>
          <span className="strong">{placeOf(path, application)}</span> {message}
        </li>
      ))}
    </ul>
  </Notice>
);
