/** The pages of the provider. They load no resources from other servers. */
export const pages = {
  signIn: ({ email, problem }: { email: string; problem?: string }) =>
    layout(
      'Sign in',
      `<form method="post" action="">
        ${problem ? `<p role="alert">${escapeHtml(problem)}</p>` : ''}
        <label>E-mail <input name="email" type="email" autocomplete="username" required value="${escapeHtml(email)}"></label>
        <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
        <button>Sign in</button>
      </form>`,
    ),
  /** `form` is the form of the provider with its hidden fields. */
  signOut: (form: string) =>
    layout(
      'Sign out?',
      `${form}
      <button form="op.logoutForm" name="logout" value="yes">Sign out</button>
      <button form="op.logoutForm">Stay signed in</button>`,
    ),
  signedOut: () => layout('Signed out', '<p>You are signed out.</p>'),
  problem: (lines: readonly string[]) =>
    layout('Sign-in failed', lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('')),
};

function escapeHtml(text: string) {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

const layout = (title: string, body: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <style>
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 4rem auto; padding: 0 1rem }
      label, input, button { display: block; width: 100%; box-sizing: border-box; margin: .25rem 0 .75rem; font: inherit }
      [role=alert] { color: #b00020 }
    </style>
  </head>
  <body>
    <h1>${title}</h1>
    ${body}
  </body>
</html>
`;
