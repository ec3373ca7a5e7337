// A substitute for the part of Helm's template language that the charts use, because a test cannot download Helm: `define`,
// `if`, `else`, `range`, variables, pipelines, and the functions below. It fails at everything else.
import { stringify } from 'yaml';

/** Values of templates are those of YAML. */
type Value = unknown;
type Node =
  | { kind: 'text'; text: string }
  | { kind: 'print'; pipeline: string }
  | { kind: 'set'; name: string; pipeline: string }
  | { kind: 'if'; pipeline: string; then: Node[]; otherwise: Node[] }
  | { kind: 'range'; names: string[]; pipeline: string; body: Node[] }
  | { kind: 'define'; name: string; body: Node[] };
type Variables = Readonly<Record<string, Value>>;

const ACTION = /\{\{(- )?\s*(\/\*[\s\S]*?\*\/|[\s\S]*?)\s*( -|-)?\}\}/g;

/** Text and actions, with the spaces that `{{-` and `-}}` remove. */
function tokensOf(source: string): { text?: string; action?: string }[] {
  const tokens: { text?: string; action?: string }[] = [];
  let [position, trims] = [0, false];
  for (const match of [...source.matchAll(ACTION), undefined]) {
    let text = source.slice(position, match?.index);
    if (trims) text = text.trimStart();
    if (match?.[1]) text = text.trimEnd();
    tokens.push({ text });
    if (match?.[2] !== undefined && !match[2].startsWith('/*')) tokens.push({ action: match[2] });
    position = (match?.index ?? 0) + (match?.[0].length ?? 0);
    trims = match?.[3] !== undefined;
  }
  return tokens;
}

/** Parses until `end` or `else`, or the end of the source. */
function parseNodes(tokens: { text?: string; action?: string }[]): { nodes: Node[]; closing: string | undefined } {
  const nodes: Node[] = [];
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    const { text, action = '' } = token;
    if (text !== undefined) {
      nodes.push({ kind: 'text', text });
      continue;
    }
    const [, keyword = '', rest = ''] = /^(define|if|range|else|end)\b\s*([\s\S]*)$/.exec(action) ?? [];
    if (keyword === 'end' || keyword === 'else') return { nodes, closing: keyword };
    if (keyword === 'define') nodes.push({ kind: 'define', name: JSON.parse(rest), body: parseNodes(tokens).nodes });
    else if (keyword === 'if') {
      const { nodes: then, closing } = parseNodes(tokens);
      nodes.push({ kind: 'if', pipeline: rest, then, otherwise: closing === 'else' ? parseNodes(tokens).nodes : [] });
    } else if (keyword === 'range') {
      const [, names = '', pipeline = rest] = /^(\$\w+(?:\s*,\s*\$\w+)?)\s*:=\s*([\s\S]+)$/.exec(rest) ?? [];
      nodes.push({ kind: 'range', names: names.match(/\$\w+/g) ?? [], pipeline, body: parseNodes(tokens).nodes });
    } else {
      const [, name, pipeline] = /^(\$\w+)\s*:=\s*([\s\S]+)$/.exec(action) ?? [];
      nodes.push(name && pipeline ? { kind: 'set', name, pipeline } : { kind: 'print', pipeline: action });
    }
  }
  return { nodes, closing: undefined };
}

const isTrue = (value: Value): boolean => {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
};
const asText = (value: Value) => (value === undefined || value === null ? '' : String(value));

const functions: Readonly<Record<string, (...args: Value[]) => Value>> = {
  toYaml: (value) => stringify(value, { lineWidth: 0 }).trimEnd(),
  nindent: (count, text) => `\n${asText(text).replace(/^(?=.)/gm, ' '.repeat(Number(count)))}`,
  quote: (value) => JSON.stringify(asText(value)),
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  not: (value) => !isTrue(value),
  eq: (one, other) => one === other,
  replace: (old, now, text) => asText(text).replaceAll(asText(old), asText(now)),
  printf: (format, ...values) =>
    asText(format).replace(/%[qs]/g, (verb) =>
      verb === '%q' ? JSON.stringify(asText(values.shift())) : asText(values.shift()),
    ),
  has: (value, list) => Array.isArray(list) && list.includes(value),
};

/** Renders `main` with the named templates of `library`. @throws an error for syntax that is not supported */
export function renderTemplates(library: readonly string[], main: string, data: Value): string {
  const defined = new Map<string, Node[]>();
  const define = (source: string) => {
    const { nodes } = parseNodes(tokensOf(source));
    for (const node of nodes) if (node.kind === 'define') defined.set(node.name, node.body);
    return nodes;
  };
  for (const source of library) define(source);

  function evaluate(pipeline: string, dot: Value, variables: Variables): Value {
    const commands = pipeline.match(/(?:"(?:[^"\\]|\\.)*"|[^|"])+/g) ?? [];
    return commands.reduce<Value>((piped, command, index) => {
      const words = command.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
      const [first = '', ...others] = words;
      const args = others.map((word) => operand(word, dot, variables));
      if (index > 0) args.push(piped);
      if (first === 'include') return include(asText(args[0]), args[1]);
      if (Object.hasOwn(functions, first)) return functions[first]?.(...args);
      const value = operand(first, dot, variables);
      if (typeof value === 'function') return value(...args);
      if (args.length > 0) throw new Error(`not supported: ${command}`);
      return value;
    }, undefined);
  }
  function operand(word: string, dot: Value, variables: Variables): Value {
    if (/^["\d]/.test(word)) return JSON.parse(word);
    const [, variable, members = ''] = /^(\$\w+)?((?:\.\w*)*)$/.exec(word) ?? [undefined, undefined, undefined];
    if (word === '' || (variable === undefined && members === '')) throw new Error(`not supported: ${word}`);
    if (variable !== undefined && !Object.hasOwn(variables, variable)) throw new Error(`${variable} is not defined`);
    const path = members.split('.').filter((name) => name !== '');
    return path.reduce(memberOf, variable === undefined ? dot : variables[variable]);
  }
  function include(name: string, dot: Value): string {
    const body = defined.get(name);
    if (body === undefined) throw new Error(`there is no template ${name}`);
    return render(body, dot, {});
  }
  function render(nodes: readonly Node[], dot: Value, outer: Variables): string {
    let [output, variables] = ['', outer];
    for (const node of nodes) {
      if (node.kind === 'text') output += node.text;
      if (node.kind === 'print') output += asText(evaluate(node.pipeline, dot, variables));
      if (node.kind === 'set') variables = { ...variables, [node.name]: evaluate(node.pipeline, dot, variables) };
      if (node.kind === 'if') {
        const branch = isTrue(evaluate(node.pipeline, dot, variables)) ? node.then : node.otherwise;
        output += render(branch, dot, variables);
      }
      if (node.kind === 'range') {
        const over = evaluate(node.pipeline, dot, variables) ?? {};
        const entries = Array.isArray(over)
          ? [...over.entries()]
          : Object.entries(over).sort(([a], [b]) => (a < b ? -1 : 1));
        for (const [key, value] of entries) {
          const [keyName, valueName] = node.names;
          const named = { ...(keyName && { [keyName]: key }), ...(valueName && { [valueName]: value }) };
          output += render(node.body, value, { ...variables, ...named });
        }
      }
    }
    return output;
  }
  return render(define(main), data, {});
}

function memberOf(value: Value, name: string): Value {
  if (typeof value !== 'object' || value === null) throw new Error(`.${name} of a value that has no members`);
  return Reflect.get(value, name);
}
