import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { CopyButton } from '../../shared/ui/controls/Copy.tsx';
import { formatList } from '../../shared/ui/display/format.ts';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet } from '../api.ts';
import { documentText, type Requested } from './document.ts';
import { useNames } from './useNames.ts';

type Place = NonNullable<FleetOutput<'getDeployment'>['deployment']['managed_by']>;

/** What manages an object: a set of files, and the place of its document. */
export const wordsOfPlace = ({ set, file, line }: Place): string =>
  t('{set}, {file}:{line}', { set, file, line: String(line) });

/** An object as a document, to keep it in a file. */
export function AsFile({
  of: { name, version },
}: {
  readonly of: { readonly name: string; readonly version: number };
}) {
  const { data } = useQuery({
    queryKey: ['plans', 'document', name, version], // another version has another document
    queryFn: ({ signal }) => fleet.call('exportDocuments', { query: { name }, signal }),
    placeholderData: keepPreviousData,
  });
  if (!data || data.text === '') return null;
  return <FilePanel text={data.text} />;
}

/** What a form is about to create as a document, so that a file can create it instead. Invalid input has no plan, and no document. */
export function NewAsFile({ isPlanned, ...requested }: Requested & { readonly isPlanned: boolean }) {
  const names = useNames(requested.body);
  if (!isPlanned || !names) return null;
  const document = documentText(requested, names);
  if ('text' in document) return <FilePanel text={document.text} />;
  return (
    <Panel title={t('As a file')}>
      <p className="muted">
        {t('A file must not contain secrets. Choose Secret or Generate instead of text for {names}.', {
          names: formatList(document.secrets),
        })}
      </p>
    </Panel>
  );
}

const FilePanel = ({ text }: { readonly text: string }) => (
  <Panel title={t('As a file')} flush actions={<CopyButton text={text} action={t('Copy as file')} />}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
    <pre className="code" tabIndex={0}>
      {text}
    </pre>
  </Panel>
);
