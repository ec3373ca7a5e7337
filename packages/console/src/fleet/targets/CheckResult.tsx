import { t } from '../../shared/texts/texts.ts';
import { ErrorView, Notice } from '../../shared/ui/feedback/states.tsx';

/** Why the check of a host or cluster failed after it was changed. */
export const CheckResult = ({ error, message }: { readonly error: unknown; readonly message: string | undefined }) => (
  <>
    {error ? <ErrorView error={error} /> : undefined}
    {message !== undefined && (
      <div role="alert">
        <Notice kind="warning" title={t('The change is saved, but the check failed')}>
          <p>{message}</p>
        </Notice>
      </div>
    )}
  </>
);
