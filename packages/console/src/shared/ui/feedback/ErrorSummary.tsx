import { CircleAlert } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { fieldErrorsOf } from '../../api/problem.ts';
import { t } from '../../texts/texts.ts';

/**
 * Lists the messages of a long form at its button, each with a link to its control. After a request
 * that the service rejects, the first control with a message is scrolled into view and has the
 * focus. Controls are found by their names, which are the paths of members.
 */
export function ErrorSummary({
  error,
  errorAt,
  labelOf,
}: {
  readonly error: unknown;
  /** The message for a member, until the user changes its control. */
  readonly errorAt: (path: string) => string | undefined;
  readonly labelOf: (path: string) => string;
}) {
  const summary = useRef<HTMLDivElement>(null);
  const all = fieldErrorsOf(error);
  useEffect(() => {
    const form = summary.current?.closest('form');
    if (!form) return;
    const controls = new Set(fieldErrorsOf(error).map(({ path }) => controlOf(form, path)));
    show([...form.elements].find((element) => element instanceof HTMLElement && controls.has(element)));
  }, [error]);
  const errors = all.filter(({ path }) => errorAt(path) !== undefined);
  return (
    <div ref={summary}>
      {errors.length > 0 && (
        <div role="alert" className="problem">
          <CircleAlert size={18} aria-hidden />
          <div className="stack-small grow">
            <h2>
              {t('{count, plural, one {# entry must be corrected} other {# entries must be corrected}}', {
                count: errors.length,
              })}
            </h2>
            <ul className="bullets">
              {errors.map(({ path, message }) => (
                <li key={path + message}>
                  <button
                    type="button"
                    className="link"
                    onClick={({ currentTarget: { form } }) => show(form && controlOf(form, path))}
                  >
                    {labelOf(path)}
                  </button>{' '}
                  <span>{message}</span>
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
    </div>
  );
}

/** The control of a member, or of the innermost member on its path that has one. */
function controlOf(form: HTMLFormElement, path: string): HTMLElement | undefined {
  const found = form.elements.namedItem(path);
  if (found instanceof HTMLElement) return found;
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('.')));
  return parent === '' ? undefined : controlOf(form, parent);
}

function show(control: Element | null | undefined): void {
  if (!(control instanceof HTMLElement)) return;
  control.scrollIntoView({ block: 'center' });
  control.focus({ preventScroll: true });
}
