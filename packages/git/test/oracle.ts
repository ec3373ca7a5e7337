// Reads a repository with isomorphic-git, which shares no code with the reader.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import git from 'isomorphic-git';
import http from 'isomorphic-git/http/node';

interface OracleFolder {
  readonly commit: string;
  readonly title: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/** The files below a folder of a branch; undefined if the folder does not exist. */
export async function readWithOracle(
  url: string,
  { branch, folder, isWanted }: { branch: string; folder: string; isWanted: (path: string) => boolean },
): Promise<OracleFolder | undefined> {
  const dir = fs.mkdtempSync(path.join(tmpdir(), 'git-oracle-'));
  try {
    const repository = { fs, gitdir: dir, dir, cache: {} };
    await git.init({ ...repository, bare: true });
    await git.addRemote({ ...repository, remote: 'origin', url });
    const { fetchHead } = await git.fetch({
      ...repository,
      http,
      remote: 'origin',
      ref: branch,
      singleBranch: true,
      depth: 1,
      tags: false,
    });
    const commit = String(fetchHead);
    const { commit: facts } = await git.readCommit({ ...repository, oid: commit });
    const files: { path: string; text: string }[] = [];
    let exists = folder === '';
    const walk = async (oid: string, prefix: string): Promise<void> => {
      for (const entry of (await git.readTree({ ...repository, oid })).tree) {
        const name = `${prefix}${entry.path}`;
        if (entry.type === 'tree') {
          exists ||= name === folder;
          await walk(entry.oid, `${name}/`);
        } else if (entry.mode.startsWith('100') && (folder === '' || name.startsWith(`${folder}/`)) && isWanted(name)) {
          const { blob } = await git.readBlob({ ...repository, oid: entry.oid });
          files.push({ path: name, text: Buffer.from(blob).toString('utf8') });
        }
      }
    };
    await walk(facts.tree, '');
    if (!exists) return undefined;
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { commit, title: facts.message.split('\n')[0] ?? '', files };
  } finally {
    fs.rmSync(dir, { recursive: true });
  }
}
