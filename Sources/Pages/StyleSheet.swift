/// How pages look: one sheet for all of them, without anything fetched, at any width from 320 pixels, light and dark.
///
/// Sides are logical (`inline`, `block`), so a language that runs from right to left needs no sheet of its own. Every text
/// has a contrast of at least 4.5:1 against what is behind it, every control's edge 3:1.
package enum StyleSheet {
    package static let asset = asset(.merganser)

    static func asset(_ accent: AccentColors) -> Asset {
        Asset(path: "/oauth/style.css", mediaType: "text/css; charset=utf-8", contents(accent))
    }

    /// What links and buttons stand on, in light and in dark.
    static let lightGrounds = [
        Ground(name: "sheet", color: Color(0xffffff)), Ground(name: "paper", color: Color(0xf4f5f5)),
        Ground(name: "raised ground", color: Color(0xf1f3f3)),
    ]
    static let darkGrounds = [
        Ground(name: "sheet", color: Color(0x191c1d)), Ground(name: "paper", color: Color(0x0f1112)),
        Ground(name: "raised ground", color: Color(0x232728)),
    ]

    private static func contents(_ accent: AccentColors) -> String {
        """
        :root {
          color-scheme: light dark;
          --paper: #f4f5f5;
          --sheet: #ffffff;
          --text: #17191a;
          --quiet: #565d61;
          --line: #dfe2e3;
          --edge: #81888c;
          --raised: #f1f3f3;
          --accent: \(accent.light.accent);
          --accent-text: \(accent.light.text);
          --accent-raised: \(accent.light.raised);
          --good: #1a6e3c;
          --bad: #a8231b;
          --bad-paper: #fdf0ee;
          --shadow: 0 1px 2px rgb(0 0 0 / 5%), 0 8px 32px rgb(0 0 0 / 6%);
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #0f1112;
            --sheet: #191c1d;
            --text: #eff1f1;
            --quiet: #a5adb0;
            --line: #2e3335;
            --edge: #71797d;
            --raised: #232728;
            --accent: \(accent.dark.accent);
            --accent-text: \(accent.dark.text);
            --accent-raised: \(accent.dark.raised);
            --good: #6fd195;
            --bad: #ff9d92;
            --bad-paper: #331b19;
            --shadow: none;
          }
        }

        *, ::before, ::after { box-sizing: border-box; }
        html {
          -webkit-text-size-adjust: 100%;
          text-size-adjust: 100%;
          font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
        }
        :lang(ko) {
          font-family: system-ui, -apple-system, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", "Noto Sans CJK KR",
            sans-serif;
          word-break: keep-all;
        }
        body {
          display: flex;
          flex-direction: column;
          align-items: center;
          min-block-size: 100vh;
          min-block-size: 100dvh;
          margin: 0;
          padding: clamp(1.25rem, 6vh, 4.5rem) 1rem 3rem;
          color: var(--text);
          background: var(--paper);
          overflow-wrap: anywhere;
        }
        header {
          display: flex;
          align-items: center;
          gap: .5rem;
          margin-block-end: clamp(1.25rem, 4vh, 2rem);
          font-weight: 600;
          letter-spacing: -.01em;
        }
        .emblem { inline-size: 1.625rem; block-size: 1.625rem; fill: var(--accent); }
        .logo { block-size: 1.625rem; max-inline-size: 10rem; object-fit: contain; }
        footer { margin-block-start: 1.5rem; font-size: .875rem; }
        footer ul { display: flex; flex-wrap: wrap; gap: 0 1.5rem; justify-content: center; }
        footer a { display: flex; align-items: center; min-block-size: 2.75rem; min-inline-size: 2.75rem; }
        main {
          inline-size: 100%;
          max-inline-size: 28rem;
          padding: 2.5rem 2rem;
          background: var(--sheet);
          border-radius: 1.25rem;
          box-shadow: var(--shadow);
        }
        .article main { max-inline-size: 46rem; }

        h1, h2, h3, p, ul, dl, dd { margin: 0; padding: 0; }
        ul { list-style: none; }
        h1 { font-size: 1.625rem; line-height: 1.25; font-weight: 650; letter-spacing: -.02em; text-wrap: balance; }
        h2 { margin-block: 1.75rem .75rem; font-size: 1rem; line-height: 1.4; font-weight: 600; }
        h3 { font-size: 1rem; font-weight: 600; }
        .lede { margin-block-start: .5rem; color: var(--quiet); text-wrap: pretty; }
        .lede .name { color: var(--text); font-weight: 600; }
        main > form, main > .ways { margin-block-start: 1.75rem; }
        a { color: var(--accent); text-underline-offset: .2em; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }

        .button {
          display: flex;
          align-items: center;
          justify-content: center;
          gap: .75rem;
          inline-size: 100%;
          min-block-size: 3rem;
          padding: .625rem 1.25rem;
          font: inherit;
          font-weight: 600;
          text-align: center;
          text-decoration: none;
          color: var(--text);
          background: var(--sheet);
          border: 1px solid var(--edge);
          border-radius: .75rem;
          cursor: pointer;
          transition: background-color .15s;
        }
        .button:hover { background: var(--raised); }
        .button svg { flex: none; inline-size: 1.25rem; block-size: 1.25rem; }
        .primary { color: var(--accent-text); background: var(--accent); border-color: transparent; }
        .primary:hover { background: var(--accent-raised); }
        .apple { color: #ffffff; background: #000000; border-color: #000000; }
        .apple:hover { background: #26282a; }
        .apple svg { margin-block-start: -.1875rem; }
        .google { color: #1f1f1f; background: #ffffff; border-color: #747775; }
        .google:hover { background: #f2f4f4; }
        @media (prefers-color-scheme: dark) {
          .apple { color: #000000; background: #ffffff; border-color: #ffffff; }
          .apple:hover { background: #dfe2e3; }
          .google { color: #e3e3e3; background: #131314; border-color: #8e918f; }
          .google:hover { background: #26282a; }
        }
        .ways { display: grid; gap: .75rem; }
        .choice { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; }
        .link {
          min-block-size: 2.75rem;
          padding: 0;
          font: inherit;
          font-size: .875rem;
          color: var(--accent);
          background: none;
          border: 0;
          text-align: start;
          text-decoration: underline;
          text-underline-offset: .2em;
          cursor: pointer;
        }

        .or { display: flex; align-items: center; gap: .75rem; margin-block: 1.5rem; font-size: .875rem; color: var(--quiet); }
        .or::before, .or::after { content: ""; flex: 1; min-inline-size: 1rem; border-block-start: 1px solid var(--line); }
        .or + .ways, .or + form { margin-block-start: 0; }
        .note, .caution, .reference { margin-block-start: 1.25rem; font-size: .875rem; color: var(--quiet); }
        .note .name { color: var(--text); font-weight: 600; }
        /* The target is 44 pixels high and more, the line is not. */
        .note a { padding-block: 1rem; }
        .reference { font-size: .8125rem; }
        .alert {
          display: flex;
          gap: .625rem;
          margin-block-start: 1.25rem;
          padding: .75rem 1rem;
          font-size: .9375rem;
          color: var(--bad);
          background: var(--bad-paper);
          border: 1px solid currentColor;
          border-radius: .75rem;
        }
        .sign { flex: none; inline-size: 1.25rem; block-size: 1.25rem; margin-block-start: .125rem; fill: none;
          stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }

        .account { display: flex; align-items: center; gap: .875rem; }
        main > .account { margin-block: 1.75rem 0; }
        .account + form { margin-block-start: 1.25rem; }
        .initial {
          display: grid;
          place-items: center;
          align-self: start;
          flex: none;
          inline-size: 2.75rem;
          block-size: 2.75rem;
          font-size: 1.125rem;
          font-weight: 600;
          color: var(--accent-text);
          background: var(--accent);
          border-radius: 50%;
        }
        .who { display: grid; justify-items: start; min-inline-size: 0; line-height: 1.35; }
        .address { font-size: .875rem; color: var(--quiet); }
        .who .name { font-weight: 600; color: var(--text); }
        .who .name.address { font-weight: 500; }
        .identity { margin-block-start: 1.5rem; padding: 1rem 1rem .25rem; border: 1px solid var(--line);
          border-radius: .75rem; }
        .identity form { margin: 0; padding-inline-start: 3.625rem; }
        .scopes { display: grid; gap: .625rem; margin-block-end: 1.5rem; }
        .scopes + .note { margin-block: 0; }
        main > .note + form { margin-block-start: 1rem; }
        .scopes li { display: flex; gap: .625rem; }
        .scopes .sign { color: var(--good); margin-block-start: .15rem; }

        label { display: block; margin-block-end: .375rem; font-size: .875rem; font-weight: 600; }
        input {
          inline-size: 100%;
          min-block-size: 3rem;
          padding: .5rem .875rem;
          font: inherit;
          color: var(--text);
          background: var(--sheet);
          border: 1px solid var(--edge);
          border-radius: .75rem;
        }
        input:focus-visible { outline-offset: 0; border-color: var(--accent); }
        input[aria-invalid] { border-color: var(--bad); }
        input + .button, input + .choice { margin-block-start: 1rem; }
        .code { font: 600 1.5rem/1.4 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; letter-spacing: .08em; }
        input.code { text-transform: uppercase; text-align: center; }
        p.code { margin-block-start: 1rem; padding: .75rem; text-align: center; background: var(--raised); border-radius: .75rem; }

        .qr { display: block; inline-size: 100%; max-inline-size: 15rem; margin: 1.5rem auto 0; border-radius: .75rem; }

        .outcome { margin-block-end: 1.25rem; color: var(--accent); }
        .outcome .sign { inline-size: 3rem; block-size: 3rem; margin: 0; stroke-width: 2.5; }

        .sheet .or { margin-block: 1.25rem; }
        .fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: 1rem; margin-block-end: 1.25rem; }
        .checks { border: 1px solid var(--line); border-radius: .75rem; }
        .checks li { display: flex; gap: .75rem; padding: 1rem; }
        .checks li + li { border-block-start: 1px solid var(--line); }
        .checks div { flex: 1; min-inline-size: 0; }
        .checks p { margin-block-start: .125rem; font-size: .9375rem; color: var(--quiet); }
        .status { flex: none; font-size: .8125rem; font-weight: 600; line-height: 1.5rem; color: var(--quiet); }
        .ok > .sign, .ok .status { color: var(--good); }
        .fault > .sign, .fault .status { color: var(--bad); }
        .unknown > .sign { color: var(--quiet); }
        .codes > div { padding-block: 1rem; border-block-start: 1px solid var(--line); scroll-margin-block-start: 1rem; }
        .codes > :target { padding-inline: 1rem; margin-inline: -1rem; background: var(--raised); border-radius: .75rem; }
        .codes dt { display: flex; flex-wrap: wrap; align-items: baseline; gap: .125rem .75rem; }
        .codes code { font: 600 .9375rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        .codes dd { margin-block-start: .25rem; color: var(--quiet); }

        .owner { display: flex; align-items: center; justify-content: space-between; gap: .75rem 1rem; flex-wrap: wrap;
          margin-block-start: 1.5rem; padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; }
        h2 + .owner { margin-block-start: 0; }
        .owner .account { min-inline-size: 0; }
        .rows { margin-block-start: .75rem; border: 1px solid var(--line); border-radius: .75rem; }
        .lede + .rows { margin-block-start: 1.25rem; }
        .rows li { display: flex; align-items: center; gap: .75rem 1rem; padding: 1rem; }
        .rows li + li { border-block-start: 1px solid var(--line); }
        .rows h2 { margin: 0; }
        .rows p { font-size: .875rem; color: var(--quiet); }
        .rows small { font-size: .8125rem; font-weight: 400; color: var(--quiet); }
        .about { flex: 1; min-inline-size: 0; }
        .act { display: inline-flex; align-items: center; justify-content: center; flex: none; min-block-size: 2.75rem;
          padding: .375rem 1rem; font-size: .9375rem; font-weight: 600; text-decoration: none; color: var(--text);
          border: 1px solid var(--edge); border-radius: .75rem; transition: background-color .15s; }
        .act:hover { background: var(--raised); }
        .rows strong { color: var(--text); }
        .rows details { font-size: .875rem; }
        .verbatim { white-space: pre-wrap; overflow-wrap: anywhere; }
        .more { margin-block-start: .75rem; }
        .effects { display: grid; gap: .5rem; margin-block-start: 1.25rem; padding-inline-start: 1.25rem; list-style: disc; }
        section > h2 + .note { margin-block-start: 0; }
        .danger { color: var(--bad); border-color: currentColor; }
        .danger:hover { background: var(--bad-paper); }
        .success { display: flex; gap: .625rem; margin-block-start: 1.25rem; padding: .75rem 1rem; font-size: .9375rem;
          color: var(--good); border: 1px solid currentColor; border-radius: .75rem; }
        /* Administration: lists and drawings beside one another, and a header that leads to every section. */
        .wide { padding-block-start: 1rem; }
        .wide main { max-inline-size: 80rem; }
        .wide header { inline-size: 100%; max-inline-size: 80rem; flex-wrap: wrap; margin-block-end: 1rem; }
        nav ul { display: flex; flex-wrap: wrap; gap: .25rem; }
        header nav { margin-inline-start: auto; font-weight: 400; }
        header nav a, .tabs a { display: flex; align-items: center; min-block-size: 2.75rem; min-inline-size: 2.75rem;
          padding-inline: .75rem; border-radius: .75rem; color: var(--text); text-decoration: none; }
        header nav a:hover, .tabs a:hover { background: var(--raised); }
        header nav a[aria-current], .tabs a[aria-current] { color: var(--accent); font-weight: 600; background: var(--sheet);
          text-decoration: underline; }
        .tabs { margin-block-start: 1rem; }
        .tabs a[aria-current] { background: var(--raised); }
        .paging { display: flex; flex-wrap: wrap; gap: .75rem; margin-block-start: 1.5rem; }
        .paging .button { inline-size: auto; }
        .done { display: flex; gap: .625rem; margin-block-start: 1rem; color: var(--good); font-weight: 600; }
        .search { max-inline-size: 46rem; }
        .search .button { inline-size: auto; }
        .hint { margin-block-end: .375rem; font-size: .875rem; color: var(--quiet); }
        .facts { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin-block-start: .5rem; }
        .facts > div { min-inline-size: 0; }
        .facts dt { font-size: .8125rem; color: var(--quiet); }
        .facts a, .row a { display: inline-flex; align-items: center; min-block-size: 2.75rem; min-inline-size: 2.75rem; }
        /* On the line of the facts beside it. */
        .facts a { margin-block: -.625rem; }
        .entries { margin-block-start: 1rem; }
        .entries > li { padding-block: 1rem; border-block-start: 1px solid var(--line); }
        .entries .row { margin: 0; }
        .entries form { margin-block-start: .5rem; }
        .entries .button { inline-size: auto; }
        .details { margin-block-start: .5rem; }
        .wide code { font: .875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 0 2.5rem; }
        .changes form { margin-block-start: 1rem; }
        .charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); gap: 1.5rem 2.5rem; }
        .charts p { font-size: .875rem; color: var(--quiet); }
        .charts strong { color: var(--text); }
        .chart { display: block; inline-size: 100%; block-size: 3rem; margin-block-start: .5rem; fill: var(--edge); }
        .chart .today { fill: var(--accent); }
        .charts details { font-size: .875rem; }
        summary { min-block-size: 2.75rem; padding-block: .625rem; cursor: pointer; color: var(--accent); }
        table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
        th, td { padding: .375rem .75rem .375rem 0; text-align: start; border-block-end: 1px solid var(--line); }
        .graph { margin-block-start: 1rem; }
        .graph svg { display: block; inline-size: 100%; max-inline-size: 70rem; }
        .graph rect { fill: var(--sheet); stroke: var(--edge); }
        .graph .center rect { fill: var(--raised); stroke: var(--accent); stroke-width: 2; }
        .graph text { fill: currentColor; font-size: 15px; }
        .graph .detail { font-size: 12px; color: var(--quiet); }
        .edge { fill: none; stroke: var(--edge); stroke-width: 1.5; }
        .graph li { padding-block: .375rem; }
        select {
          inline-size: 100%;
          min-block-size: 3rem;
          margin-block-end: 1rem;
          padding: .5rem .875rem;
          font: inherit;
          color: var(--text);
          background: var(--sheet);
          border: 1px solid var(--edge);
          border-radius: .75rem;
        }
        .flag { display: flex; align-items: center; gap: .75rem; min-block-size: 2.75rem; }
        .flag input { flex: none; inline-size: 2.75rem; min-block-size: 2.75rem; margin: 0; accent-color: var(--accent); }
        .flag label { margin: 0; font-weight: 400; }
        /* For screen readers only. */
        .spoken, .graph:not(.listed) ul { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden;
          clip-path: inset(50%); }
        /* Smaller than it is drawn, nobody could read it. */
        @media (max-width: 76rem) {
          .graph svg { display: none; }
          .graph:not(.listed) ul { position: static; inline-size: auto; block-size: auto; overflow: visible;
            clip-path: none; }
        }
        @media (max-width: 60rem) {
          header nav { margin-inline-start: 0; }
        }

        @media (max-width: 30rem) {
          body { padding-inline: 0; padding-block-end: 0; background: var(--sheet); }
          header { align-self: start; margin-inline: 1.25rem; }
          .wide header { inline-size: auto; }
          h1 { font-size: 1.5rem; }
          main { padding: .5rem 1.25rem 2.5rem; border-radius: 0; box-shadow: none; }
          /* Under what it is about, which gets the whole width. */
          .checks li { flex-wrap: wrap; row-gap: .25rem; }
          .checks div { flex-basis: calc(100% - 2rem); }
          .checks .status { margin-inline-start: 2rem; }
          .identity { padding-inline: .875rem; }
          .account { gap: .75rem; }
          .initial { inline-size: 2.25rem; block-size: 2.25rem; font-size: 1rem; }
          .identity form { padding-inline-start: 3rem; }
          .rows li { flex-wrap: wrap; }
          .about { flex-basis: 100%; }
          .act { inline-size: 100%; }
        }
        @media (prefers-reduced-motion: reduce) { .button, .act { transition: none; } }
        @media (forced-colors: active) {
          .button, .act, .alert, .success, .initial, p.code { border: 1px solid; }
          .emblem { fill: CanvasText; }
          .sign { stroke: CanvasText; }
          .initial { color: CanvasText; }
        }

        """
    }
}
