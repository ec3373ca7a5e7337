import { PlugZap, RotateCcw, Save } from 'lucide-react';
import type { FormEvent, ReactNode } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';

interface Action<I> {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly reset: () => void;
  readonly mutate: (input: I) => void;
}

interface Actions<B> {
  readonly save: Action<{ readonly body: B }>;
  readonly test: Action<{ readonly body: B }> & { readonly variables: { readonly body?: B } | undefined };
  readonly reset: Action<Record<never, never>>;
  /** The members that differ from the settings. */
  readonly body: B;
}

/**
 * What the forms of settings have in common: save, test with the input, and reset to the
 * environment.
 */
export function settingsActions<B extends object>({ save, test, reset, body }: Actions<B>) {
  /** An action removes the errors of the earlier ones. */
  const start = (action: () => void) => {
    for (const earlier of [save, test, reset]) if (earlier.error) earlier.reset();
    action();
  };
  const error = save.error ?? test.error ?? reset.error;
  return {
    error,
    /** Whether the last test had the input that the form shows. */
    isTested: JSON.stringify(test.variables?.body) === JSON.stringify(body),
    onSubmit: (event: FormEvent) => {
      event.preventDefault();
      start(() => save.mutate({ body }));
    },
    /** The end of the form. `shown` are the members whose messages the fields show. */
    buttons: (shown: readonly string[]): ReactNode => (
      <>
        <FormError error={error} shown={shown} />
        <div className="actions">
          <Button
            type="submit"
            tone="primary"
            icon={Save}
            pending={save.isPending}
            blocked={Object.keys(body).length === 0 ? t('Nothing is changed.') : undefined}
          >
            {t('Save')}
          </Button>
          <Button icon={PlugZap} pending={test.isPending} onClick={() => start(() => test.mutate({ body }))}>
            {t('Test')}
          </Button>
          <Button tone="ghost" icon={RotateCcw} pending={reset.isPending} onClick={() => start(() => reset.mutate({}))}>
            {t('Reset to the environment')}
          </Button>
        </div>
      </>
    ),
  };
}
