import { ArrowDownToLine, Clock, Download, History, WrapText } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect } from '../../shared/ui/controls/Field.tsx';
import { ErrorView } from '../../shared/ui/feedback/states.tsx';
import { type Deployment, fleet } from '../api.ts';

const MAX_LINES = 10_000;
const PAINT_MS = 100;
const NEAR_END_PX = 40;
/** The choice of all instances, which is not the name of an instance. */
const ALL = '*';
/** The maximum number of instances whose logs the fleet follows in one request. */
const MAX_FOLLOWED_INSTANCES = 20;

/**
 * The log of an instance, as text. The view follows the end until the user scrolls away from it.
 */
export function Logs({ id, instances: shown }: { readonly id: string; readonly instances: Deployment['instances'] }) {
  const [chosen, setChosen] = useState('');
  const [chosenContainer, setContainer] = useState('');
  const instances = shown.map(({ name }) => name);
  const first = shown.find(({ phase }) => phase === 'running') ?? shown[0];
  const instance = instances.includes(chosen) ? chosen : first?.name;
  const containers = shown.find(({ name }) => name === instance)?.containers.map(({ name }) => name) ?? [];
  const container = containers.includes(chosenContainer) ? chosenContainer : containers[0];
  const canBeAll = instances.length > 1 && instances.length <= MAX_FOLLOWED_INSTANCES;
  const isAll = canBeAll && chosen === ALL;
  const view = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  const [hasEnded, setEnded] = useState(false);
  const [isFollowing, setFollowing] = useState(true);
  const [wraps, setWraps] = useState(true);
  const [isPrevious, setPrevious] = useState(false);
  const [hasTimes, setTimes] = useState(false);
  const [search, setSearch] = useState('');
  /** What the lines are compared with, for lines that are painted later. */
  const folded = useRef('');
  const [attempt, setAttempt] = useState(0);
  const toEnd = () => {
    if (view.current) view.current.scrollTop = view.current.scrollHeight;
    setFollowing(true);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt begins the stream again
  useEffect(() => {
    const box = view.current;
    if (!box || instance === undefined) return;
    box.replaceChildren();
    setError(undefined);
    setEnded(false);
    setFollowing(true);
    const closing = new AbortController();
    let waiting: string[] = [];
    let follows = true;
    let top = 0;
    const onScroll = () => {
      const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX;
      if (box.scrollTop < top && !isNear) follows = false;
      else if (isNear) follows = true;
      top = box.scrollTop;
      setFollowing(follows);
    };
    box.addEventListener('scroll', onScroll, { passive: true, signal: closing.signal });
    const paint = () => {
      if (waiting.length === 0) return;
      const lines = waiting.slice(-MAX_LINES).map(lineOf);
      for (const line of lines) mark(line, folded.current);
      box.append(...lines);
      waiting = [];
      while (box.childElementCount > MAX_LINES) box.firstElementChild?.remove();
      if (follows) {
        box.scrollTop = box.scrollHeight;
        top = box.scrollTop;
      }
    };
    const timer = setInterval(paint, PAINT_MS);
    const read = async () => {
      const query = {
        ...(isAll ? { all: true } : { instance, container }),
        tail: 1000,
        follow: !isPrevious,
        previous: isPrevious,
        timestamps: hasTimes,
      };
      for await (const line of fleet.lines('readDeploymentLogs', { params: { id }, query, signal: closing.signal })) {
        waiting.push(line);
      }
      paint();
      setEnded(true);
    };
    read().catch((cause: unknown) => {
      if (!closing.signal.aborted) setError(cause);
    });
    return () => {
      closing.abort();
      clearInterval(timer);
    };
  }, [id, instance, container, isAll, isPrevious, hasTimes, attempt]);

  useEffect(() => {
    const lines = view.current?.children ?? [];
    folded.current = search.toLowerCase();
    let last: Element | undefined;
    for (const line of lines) {
      if (mark(line, folded.current)) last = line;
    }
    last?.scrollIntoView({ block: 'center' });
  }, [search]);

  if (instance === undefined) return <p className="muted">{t('The deployment has no instance yet.')}</p>;
  return (
    <section className="panel" aria-label={t('Log')}>
      <header>
        <div className="row">
          <h2>{t('Log')}</h2>
          <FilterSelect
            label={t('Instance')}
            value={isAll ? ALL : instance}
            onChange={setChosen}
            options={[
              ...(canBeAll ? [{ value: ALL, label: t('All instances') }] : []),
              ...instances.map((name) => ({ value: name, label: name })),
            ]}
          />
          {!isAll && container !== undefined && containers.length > 1 && (
            <FilterSelect
              label={t('Container')}
              value={container}
              onChange={setContainer}
              options={containers.map((name) => ({ value: name, label: name }))}
            />
          )}
        </div>
        <div className="row">
          <input
            type="search"
            className="input log-search"
            aria-label={t('Find in the log')}
            placeholder={t('Find in the log')}
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
          <Button size="small" icon={WrapText} aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
            {t('Wrap')}
          </Button>
          <Button size="small" icon={Clock} aria-pressed={hasTimes} onClick={() => setTimes(!hasTimes)}>
            {t('Times')}
          </Button>
          <Button size="small" icon={History} aria-pressed={isPrevious} onClick={() => setPrevious(!isPrevious)}>
            {t('Before the restart')}
          </Button>
          <a
            className="button small"
            href={fleet.urlOf('readDeploymentLogs', {
              params: { id },
              query: {
                ...(isAll ? { all: true } : { instance, container }),
                tail: MAX_LINES,
                previous: isPrevious,
                timestamps: true,
                download: true,
              },
            })}
            download
          >
            <Download size={16} aria-hidden />
            {t('Download')}
          </a>
          {!isFollowing && (
            <Button size="small" icon={ArrowDownToLine} onClick={toEnd}>
              {t('Follow the end')}
            </Button>
          )}
        </div>
      </header>
      <div
        ref={view}
        className={wraps ? 'log' : 'log nowrap'}
        role="log"
        aria-live="off"
        aria-label={isAll ? t('Log of all instances') : t('Log of {instance}', { instance })}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
        tabIndex={0}
      />
      {error !== undefined && <ErrorView error={error} retry={() => setAttempt(attempt + 1)} />}
      {hasEnded && <footer className="muted small">{t('The log has ended.')}</footer>}
    </section>
  );
}

/** ANSI escape sequences have no meaning in the console. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** A level in capitals, in brackets, or as the value of `level` or `severity`. */
const LEVEL =
  /\b(?:WARN|WARNING|ERROR|FATAL|CRITICAL|PANIC)\b|\[(?:warn|warning|error|fatal|critical|panic)\]|(?:level|severity)"?[=:] ?"?(?:warn|error|fatal|critical|panic)/;

/** Levels are near the beginning of a line. */
const LEVEL_LENGTH = 300;

function levelOf(text: string): string {
  const [found] = LEVEL.exec(text.slice(0, LEVEL_LENGTH)) ?? [];
  if (found === undefined) return '';
  return /warn/i.test(found) ? 'warning' : 'error';
}

/** Marks a line that contains the text, and returns whether it does. */
function mark(line: Element, folded: string): boolean {
  const matches = folded !== '' && (line.textContent ?? '').toLowerCase().includes(folded);
  return line.classList.toggle('match', matches);
}

export const withoutEscapes = (text: string): string => text.replace(ESCAPES, '');

function lineOf(text: string): HTMLElement {
  const line = document.createElement('div');
  const plain = withoutEscapes(text);
  line.textContent = plain === '' ? ' ' : plain;
  line.className = levelOf(plain);
  return line;
}
