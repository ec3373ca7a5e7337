export { type DocumentText, documentsIn } from './documents.ts';
export { countLexemes, formatYaml, readYamlText, TOO_COMPLEX, type YamlText } from './yaml-text.ts';
