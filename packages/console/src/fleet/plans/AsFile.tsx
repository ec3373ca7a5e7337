import { useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { CopyButton } from '../../shared/ui/controls/Copy.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet } from '../api.ts';

type Place = NonNullable<FleetOutput<'getDeployment'>['deployment']['managed_by']>;

/** What manages an object: a set of files, and the place of its document. */
export const wordsOfPlace = ({ set, file, line }: Place): string =>
  t('{set}, {file}:{line}', { set, file, line: String(line) });

/** An object as a document, to keep it in a file. */
export function AsFile({ name }: { readonly name: string }) {
  const { data } = useQuery(fleet.read('exportDocuments', { query: { name } }));
  if (!data || data.text === '') return null;
  return (
    <Panel title={t('As a file')} flush actions={<CopyButton text={data.text} action={t('Copy as file')} />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
      <pre className="code" tabIndex={0}>
        {data.text}
      </pre>
    </Panel>
  );
}
