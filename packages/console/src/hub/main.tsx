import '../shared/styles/console.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { finishSignIn } from '../shared/api/begun-sign-in.ts';
import { AskingRouter } from '../shared/routing/leaving.tsx';
import { preloadPages } from '../shared/routing/page.tsx';
import { Toasts } from '../shared/ui/feedback/toast.tsx';
import { applyTheme } from '../shared/ui/shell/theme.ts';
import { App } from './App.tsx';
import { hub } from './api.ts';
import { pages } from './pages.ts';

applyTheme();
preloadPages(pages);
await finishSignIn((body) => hub.call('finishOidcLogin', { body }));
createRoot(document.getElementById('root') ?? document.body).render(
  <QueryClientProvider client={hub.queries}>
    <AskingRouter>
      <App />
    </AskingRouter>
    <Toasts />
  </QueryClientProvider>,
);
