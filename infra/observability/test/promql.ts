import { parser } from '@prometheus-io/lezer-promql';

/** A metric in an expression, with the labels that its selector names. */
interface Selected {
  readonly metric: string;
  readonly labels: readonly string[];
}

interface Expression {
  readonly selected: readonly Selected[];
  /** The labels of `by`, `on` and similar clauses. */
  readonly grouping: readonly string[];
}

/** What an expression of PromQL refers to. @throws an error if it is invalid */
export function readExpression(text: string): Expression {
  const selected: { metric: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  let isGrouping = false;
  parser.parse(text).iterate({
    enter: ({ name, from, to, type }) => {
      const content = text.slice(from, to);
      if (type.isError) throw new Error(`syntax error at "${text.slice(from)}"`);
      if (name === 'VectorSelector') {
        selected.push({ metric: '', labels: [] });
        isGrouping = false;
      }
      if (name === 'GroupingLabels') isGrouping = true;
      const last = selected.at(-1);
      if (name === 'Identifier' && last) last.metric = content;
      if (name === 'LabelName') (isGrouping ? grouping : last?.labels)?.push(content);
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') isGrouping = false;
    },
  });
  return { selected, grouping };
}
