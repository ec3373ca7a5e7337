import { t } from '../../texts/texts.ts';
import { CopyButton } from '../controls/Copy.tsx';

/**
 * The number of characters that are shown of a request id. They distinguish the requests of a page
 * of a log.
 */
const SHOWN = 8;

/** The beginning of a request id, and a button that copies the whole id. */
export const RequestId = ({ id }: { readonly id: string }) => (
  <span className="row-nowrap mono small muted">
    <span className="nowrap" title={id}>
      {id.length > SHOWN ? `${id.slice(0, SHOWN)}…` : id}
    </span>
    <CopyButton text={id} action={t('Copy request id')} />
  </span>
);
