import { Link } from 'wouter';
import { t } from '../texts/texts.ts';
import { Markdown } from '../ui/markdown/Markdown.tsx';
import { Panel } from '../ui/shell/PageHeader.tsx';

/** The documentation of a template or an application. `none` is shown without one. */
export const Documentation = ({
  name,
  text,
  none,
}: {
  readonly name: string;
  readonly text: string;
  readonly none: string;
}) => (
  <Panel title={t('Documentation')}>
    {text ? <Markdown title={name}>{text}</Markdown> : <p className="muted">{none}</p>}
  </Panel>
);

/** The tags of a template or an application, each with the objects that have it as well. */
export const Tags = ({
  tags,
  hrefOf,
}: {
  readonly tags: readonly string[];
  readonly hrefOf: (tag: string) => string;
}) =>
  tags.length === 0 ? null : (
    <Panel title={t('Tags')}>
      <div className="row">
        {tags.map((tag) => (
          <Link key={tag} className="tag" href={hrefOf(tag)}>
            {tag}
          </Link>
        ))}
      </div>
    </Panel>
  );
