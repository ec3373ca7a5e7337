import {
  type Application,
  type ApplicationPart,
  applicationYaml,
  type Converted,
  type Entry,
  type Fate,
  MAX_FILE,
} from '@svc/convert';
import { ArrowLeft, Download, FileInput, type LucideIcon } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { t } from '../texts/texts.ts';
import { Button } from '../ui/controls/Button.tsx';
import { FileField, TextAreaField, TextField } from '../ui/controls/Field.tsx';
import { formatCount } from '../ui/display/format.ts';
import { Notice } from '../ui/feedback/states.tsx';
import { Table } from '../ui/lists/Table.tsx';
import { PageHeader, Panel } from '../ui/shell/PageHeader.tsx';
import { convertPasted, isTooLarge, type PasteError } from './pasted.ts';

const fateWords: Readonly<Record<Fate, string>> = {
  same: t('The same'),
  harmless: t('Harmless difference'),
  note: t('To read'),
  refused: t('Refused'),
};

/** The maximum number of keys that the page lists. The downloaded report has all of them. */
const MAX_ROWS = 500;

const errorWords: Readonly<Record<PasteError, string>> = {
  empty: t('Paste the content of the file, or choose it.'),
  large: t('The file has more than {count} characters.', { count: formatCount(MAX_FILE) }),
};

/** What a console does with the application. The action is the consent of the person to send it. */
interface Next {
  readonly action: string;
  readonly icon: LucideIcon;
  /** Why the caller must not do it. */
  readonly blocked: string | undefined;
  /** What the action sends, and to which service. */
  readonly hint: string;
  /** The page that follows. */
  readonly render: (application: Application, onBack: () => void) => ReactNode;
}

/** Converts a Compose file in the browser, and shows the application with its notes. Nothing is sent before `next`. */
export function ConvertPage({
  crumbs,
  next,
}: {
  readonly crumbs: readonly { readonly label: string; readonly href: string }[];
  readonly next: Next;
}) {
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [error, setError] = useState<string>();
  const [result, setResult] = useState<Converted>();
  const [chosen, setChosen] = useState<Application>();
  const convert = () => {
    const converted = convertPasted(text, name);
    if (typeof converted === 'string') setError(errorWords[converted]);
    else setResult(converted);
  };
  if (chosen) return next.render(chosen, () => setChosen(undefined));
  const header = (
    <PageHeader
      crumbs={crumbs}
      title={t('Convert a Compose file')}
      about={t(
        'Shows the application that the file describes, and what you must read. The file stays in your browser.',
      )}
    />
  );
  if (result)
    return (
      <>
        {header}
        <Result result={result} next={next} onNext={setChosen} onBack={() => setResult(undefined)} />
      </>
    );
  return (
    <>
      {header}
      <form
        className="panel"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          convert();
        }}
      >
        <div className="form-section">
          <div className="fields">
            <TextField
              label={t('Name')}
              hint={t('The name of the application, unless the file states one.')}
              value={name}
              onChange={setName}
            />
            <FileField
              label={t('File')}
              accept=".yaml,.yml"
              onChoose={async (file) => {
                if (isTooLarge(file)) return setError(errorWords.large);
                setText(await file.text());
                setError(undefined);
              }}
            />
            <TextAreaField
              label={t('Content')}
              placeholder={'services:\n  web:\n    image: nginx:1.29'}
              rows={16}
              value={text}
              required
              {...(error !== undefined && { error })}
              onChange={(changed) => {
                setText(changed);
                setError(undefined);
              }}
            />
          </div>
          <div className="actions">
            <Button type="submit" tone="primary" icon={FileInput}>
              {t('Convert')}
            </Button>
          </div>
        </div>
      </form>
    </>
  );
}

function Result({
  result: { application, report },
  next,
  onNext,
  onBack,
}: {
  readonly result: Converted;
  readonly next: Next;
  readonly onNext: (application: Application) => void;
  readonly onBack: () => void;
}) {
  const refused = report.filter((entry) => entry.class === 'refused');
  const notes = report.filter((entry) => entry.class === 'note');
  return (
    <div className="stack">
      {refused.length > 0 && (
        <Notice kind="warning" title={t('The file is not converted')}>
          <p>{t('Correct these keys, and convert it again.')}</p>
        </Notice>
      )}
      {application && notes.length === 0 && <Notice kind="good" title={t('The file is converted completely')} />}
      {application && notes.length > 0 && (
        <Notice kind="info" title={t('The file is converted')}>
          <p>{t('Read what works in another way, before you use the application.')}</p>
        </Notice>
      )}
      <div className="actions">
        {application && (
          <Button tone="primary" icon={next.icon} blocked={next.blocked} onClick={() => onNext(application)}>
            {next.action}
          </Button>
        )}
        {application && (
          <Button icon={Download} onClick={() => download(`${application.slug}.yaml`, applicationYaml(application))}>
            {t('Download the application')}
          </Button>
        )}
        <Button icon={Download} onClick={() => download('report.json', JSON.stringify(report, null, 2))}>
          {t('Download the report')}
        </Button>
        <Button tone="ghost" icon={ArrowLeft} onClick={onBack}>
          {t('Change the file')}
        </Button>
      </div>
      {application && <p className="muted">{next.hint}</p>}
      {refused.length > 0 && <Entries title={t('Refused')} entries={refused} />}
      {notes.length > 0 && <Entries title={t('To read')} entries={notes} />}
      {application && <Contents application={application} />}
      <details>
        <summary>{t('{count, plural, one {# key} other {All # keys}}', { count: report.length })}</summary>
        <Entries title={t('Keys')} entries={report} hasFates />
      </details>
    </div>
  );
}

function download(name: string, content: string) {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

const keyOf = ({ part, member }: Entry) => [part, member].filter((each) => each !== null && each !== '').join('.');

const Entries = ({
  title,
  entries,
  hasFates = false,
}: {
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly hasFates?: boolean;
}) => (
  <Panel
    title={title}
    flush
    {...(entries.length > MAX_ROWS && {
      footer: t('The downloaded report has the other {count} keys.', { count: entries.length - MAX_ROWS }),
    })}
  >
    <Table
      label={title}
      columns={[
        { label: t('Line'), isEnd: true },
        { label: t('Key') },
        ...(hasFates ? [{ label: t('Value') }, { label: t('Result') }] : []),
        { label: t('Reason') },
      ]}
    >
      {entries.slice(0, MAX_ROWS).map((entry) => (
        <tr key={`${entry.line} ${keyOf(entry)}`}>
          <td className="end">{entry.line}</td>
          <td>
            <code>{keyOf(entry)}</code>
          </td>
          {hasFates && (
            <>
              <td>
                <code>{entry.value}</code>
              </td>
              <td>{fateWords[entry.class]}</td>
            </>
          )}
          <td>{entry.reason}</td>
        </tr>
      ))}
    </Table>
  </Panel>
);

function imageOf({ registry_url, image_name, image_tag, image_digest }: ApplicationPart): string {
  const tag = image_tag ?? (image_digest === undefined ? 'latest' : undefined);
  const named = [registry_url, image_name].filter((each) => each !== undefined).join('/');
  return `${named}${tag === undefined ? '' : `:${tag}`}${image_digest === undefined ? '' : `@${image_digest}`}`;
}

const portsOf = ({ ports = [] }: ApplicationPart) =>
  ports
    .map(({ containerPort, protocol = 'TCP', publish }) =>
      publish
        ? t('{port}/{protocol}, published', { port: String(containerPort), protocol })
        : `${containerPort}/${protocol}`,
    )
    .join('; ');

const Contents = ({ application: { name, inputs, generated = [], parts } }: { readonly application: Application }) => (
  <Panel title={name} flush>
    <Table
      label={t('Parts')}
      columns={[
        { label: t('Part') },
        { label: t('Image') },
        { label: t('Ports') },
        { label: t('Volumes') },
        { label: t('Waits for') },
      ]}
    >
      {parts.map((part) => (
        <tr key={part.name}>
          <td>{part.name}</td>
          <td>
            <code>{imageOf(part)}</code>
          </td>
          <td>{portsOf(part)}</td>
          <td>{(part.volume_mounts ?? []).map(({ mountPath }) => mountPath).join(', ')}</td>
          <td>{(part.needs ?? []).map((need) => need.part).join(', ')}</td>
        </tr>
      ))}
    </Table>
    {inputs.length > 0 && (
      <Table label={t('Inputs')} columns={[{ label: t('Input') }, { label: t('Required') }, { label: t('Default') }]}>
        {inputs.map((input) => (
          <tr key={input.name}>
            <td>
              {input.label}
              {input.type === 'secret' && <span className="muted"> {t('secret')}</span>}
            </td>
            <td>{input.required ? t('Yes') : t('No')}</td>
            <td>{input.default ?? ''}</td>
          </tr>
        ))}
      </Table>
    )}
    {generated.length > 0 && (
      <p className="body muted">
        {t('{count, plural, one {The fleet generates # value.} other {The fleet generates # values.}}', {
          count: generated.length,
        })}
      </p>
    )}
  </Panel>
);
