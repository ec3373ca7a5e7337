// Requires a reason beside each cast in the sources: a comment on one of its lines, or on the line before it.
// `as const` and `satisfies` need no reason, because the compiler checks them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { root, sources } from './sources.mjs';

const problems = sources().flatMap(castsWithoutReason);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error('Add a comment with the reason beside each of these casts, or remove the cast.');
  process.exitCode = 1;
}

function castsWithoutReason(file) {
  const text = readFileSync(path.join(root, file), 'utf8');
  const lineAt = (offset) => text.slice(0, offset).split('\n').length;
  const { program, comments, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const reasons = new Set(
    comments.flatMap(({ start, end }) => {
      const [first, last] = [lineAt(start), lineAt(end)];
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    }),
  );
  const found = [];
  const check = ({ start, end, typeAnnotation }) => {
    const isConst = text.slice(typeAnnotation.start, typeAnnotation.end) === 'const';
    const [first, last] = [lineAt(start), lineAt(end)];
    const lines = Array.from({ length: last - first + 2 }, (_, index) => first - 1 + index);
    if (!isConst && !lines.some((line) => reasons.has(line))) found.push(`${file}:${lineAt(typeAnnotation.start)}`);
  };
  new Visitor({ TSAsExpression: check, TSTypeAssertion: check }).visit(program);
  return found;
}
