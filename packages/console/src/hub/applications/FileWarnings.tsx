import { t } from '../../shared/texts/texts.ts';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import type { ReadFile } from './application-body.ts';

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
          <code>{path}</code> {message}
        </li>
      ))}
    </ul>
  </Notice>
);
