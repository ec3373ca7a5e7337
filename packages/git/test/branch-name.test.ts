import { spawnSync } from 'node:child_process';
import { describeWithGit } from '@svc/testing';
import { isBranchName } from '../src/index.ts';

const valid = [
  ...'main feature/a a.b a-b a_b release/1.2.x b\u00fccher \u{1f680} a@b @ @a a{b} a/HEAD head refs/heads/x #1 a!'.split(
    ' ',
  ),
  ...`a'b a"b a$(b) a;b a&b lock a.lock.b a/-b 0 a%b a=b a,b (a)`.split(' '),
];
const invalid = [
  ...'. .. .a a/.b a. a..b a/b.lock a.lock a.lock/b /a a/ a//b -a -- HEAD a@{b @{-1} a~1 a^ a:b a? a* a[b ... a/..'.split(
    ' ',
  ),
  ...['', 'a b', 'a\\b', 'a\nb', 'a\tb', 'a\u007f', '\u0001'],
];

it.each(valid)('accepts %j as the name of a branch', (name) => {
  expect(isBranchName(name)).toBe(true);
});

it.each(invalid)('rejects %j as the name of a branch', (name) => {
  expect(isBranchName(name)).toBe(false);
});

it('rejects names that are no Unicode text, contain C1 control characters, or have more than 255 bytes', () => {
  expect(isBranchName('a\ud800')).toBe(false);
  expect(isBranchName('a\u0085')).toBe(false);
  expect(isBranchName('\u00e9'.repeat(127))).toBe(true);
  expect(isBranchName('\u00e9'.repeat(128))).toBe(false);
});

describeWithGit('git check-ref-format', () => {
  it('agrees', () => {
    const accepted = [...valid, ...invalid].filter(
      (name) => spawnSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' }).status === 0,
    );
    // It replaces this name by that of another branch, if there is one.
    expect(accepted.filter((name) => name !== '@{-1}')).toEqual(valid);
  });
});
