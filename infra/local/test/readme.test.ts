import fs from 'node:fs';
import { expect, test } from '@jest/globals';
import { linkedFiles } from './readme.ts';

test('every file that the README links to exists', () => {
  expect(linkedFiles()).not.toEqual([]);
  expect(linkedFiles().filter((file) => !fs.existsSync(file))).toEqual([]);
});
