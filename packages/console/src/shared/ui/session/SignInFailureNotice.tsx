import { signInFailure } from '../../api/sign-in-failure.ts';
import { rich, t } from '../../texts/texts.ts';
import { CopyButton } from '../controls/Copy.tsx';
import { Notice } from '../feedback/states.tsx';

/**
 * Why the last sign-in at the identity provider failed, and what to do. Nothing if it did not fail.
 */
export function SignInFailureNotice() {
  if (!signInFailure) return null;
  const { title, nextStep, requestId } = signInFailure;
  return (
    <div role="alert">
      <Notice kind="warning" title={title}>
        <p>{nextStep}</p>
        {requestId && (
          <p className="small muted">
            {rich('Request id {id}', { id: <code>{requestId}</code> })}{' '}
            <CopyButton text={requestId} action={t('Copy request id')} />
          </p>
        )}
      </Notice>
    </div>
  );
}
