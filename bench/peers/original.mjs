// The original, Priompt, with its native tokenizer. A fresh tree for each render: it writes into its tree.

import { requirePeer, serve } from './worker.mjs';

const { createElement, Fragment, UserMessage, AssistantMessage, render } = requirePeer('@impowering/priompt');
const tokenizers = requirePeer('@impowering/priompt/dist/tokenizer.js');
const tokenizer = tokenizers.getTokenizerByName_ONLY_FOR_OPENAI_TOKENIZERS('o200k_base');

const builders = {
  lines: ({ lines }) => lines.map((text, i) => createElement('scope', { p: i }, text)),
  chat: ({ messages }) =>
    messages.map(([role, text], i) =>
      createElement('scope', { p: i }, createElement(role === 'user' ? UserMessage : AssistantMessage, null, text)),
    ),
  firsts: ({ firsts }) =>
    firsts.map((kids) =>
      createElement('first', null, ...kids.map(([p, text]) => createElement('scope', { p }, text))),
    ),
};

function textOf(prompt) {
  if (typeof prompt === 'string') return prompt;
  if (Array.isArray(prompt)) return prompt.join('');
  return prompt.messages.map(({ content }) => (Array.isArray(content) ? content.join('') : content)).join('');
}

await serve(
  (data) => createElement(Fragment, null, builders[data.kind](data)),
  async (tree, { limit }) => {
    const { prompt, tokenCount, priorityCutoff } = await render(tree, { tokenLimit: limit, tokenizer });
    return { tokens: tokenCount, cutoff: priorityCutoff, text: () => textOf(prompt) };
  },
);
