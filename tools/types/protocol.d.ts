// What the server answers (or an exported page holds): the shapes of the JSON that data.js hands to the views.
// Vectors are `[n]` in the order of the variable's values.

declare namespace Api {
    type Packed = { dtype: "i4" | "f8"; data: string };
    type Vectors = Record<string, number[]>;
    type Failure = { code: string; message: string };

    interface Cursor { trial: number; cycle: number; iteration: number; node: number }

    interface Variable { name: string; size: number; values: string[] }
    interface State extends Variable { parents: string[]; moved: boolean }
    interface Observation extends Variable { parents: string[] }
    interface Preference { part: string; observations: string[]; shape: number[] }
    interface Factor { name: string; kind: "prior" | "likelihood"; observation?: string; variables: string[] }
    interface Model {
        action: Variable;
        states: State[];
        observations: Observation[];
        preferences: Preference[];
        factors: Factor[];
    }
    interface Agent {
        class: string;
        max_planning_steps: number | null;
        time_limit: number | null;
        exp_const: number;
        action_selection: string;
        ties: string;
        precision: number;
        inference: string;
    }
    interface Info {
        protocol: number;
        version: string;
        mode: "live" | "replay" | "export";
        title: string;
        can: { command: boolean; what_if: boolean };
        cursor: Cursor | null; // null: there is no trial yet
        trials: number; // that there are by now
        model: Model;
        agent: Agent;
        occupancy: [string, string][];
        python: Record<string, string>;
    }

    interface Trial {
        trial: number;
        seed: number | null;
        initial_state: unknown;
        reward: number | null;
        cycles: number;
        finished: boolean;
        over: boolean;
        seconds: number | null;
        planning_iterations: number;
        actions: number[];
        recorded: boolean;
    }
    interface Trials { trials: Trial[]; expected: number | null; summary: Record<string, unknown> | null }
    interface Worst { trial: number; cycle: number | null; mean_cost: number | null }

    interface CycleSummary {
        cycle: number;
        iterations: number;
        action: number | null;
        action_name: string | null;
        reward: number | null;
        image: string | null;
        observed: Record<string, string>;
    }
    interface TrialCycles { trial: number; over: boolean; cycles: CycleSummary[] }
    interface PackedSearch {
        n_actions: number;
        root: { visits: number; cost: number }; // what it begins with
        expanded: Packed;
        efe: Packed;
        path_cost: Packed;
        best: Packed;
    }
    interface Cycle extends CycleSummary {
        trial: number;
        evidence: Record<string, number[] | null>;
        prior: Vectors;
        posterior: Vectors;
        budget: number | null;
        from: number;
        search: PackedSearch;
        python: string;
    }
    interface Curves {
        trial: number;
        cycle: number;
        n_actions: number;
        iterations: number;
        visits: Packed;
        mean_cost: Packed;
        chosen: number | null;
        parted: (number | null)[];
    }

    interface Message { source: string; target: string; variables: string[]; shape: number[]; values: number[] }
    interface Inference {
        exact: boolean;
        reason: string;
        residual: number;
        iterations: number;
        log_evidence: number;
        graph: "factors" | "cliques";
        cliques: Record<string, string[]>; // their variables by their names, where there are any
        messages: Message[];
    }
    interface RiskPart { part: string; observations: string[]; value: number }
    interface AmbiguityPart { part: string; observation: string; value: number }
    interface Efe {
        total: number;
        risk_total: number;
        ambiguity_total: number;
        risk: RiskPart[];
        ambiguity: AmbiguityPart[];
    }
    interface Node {
        node: number;
        parent: number | null;
        action: number | null;
        action_name: string | null;
        depth: number;
        path: number[];
        path_names: string[];
        beliefs: Vectors;
        before: { what: "prior" | "parent"; beliefs: Vectors };
        observations: Vectors | null;
        inference: Inference | null;
        efe: Efe | null;
    }
    interface Cell {
        index: number[];
        labels: string[];
        value: number;
        marginals?: number[];
        preference?: number;
        weight?: number;
        entropy?: number;
    }
    interface Cells {
        part: string;
        kind: "risk" | "ambiguity";
        variables: string[];
        shape: number[];
        total: number;
        cells: Cell[];
        rest: { cells: number; value: number };
    }
    interface Occupancy {
        node: number;
        x: string;
        y: string;
        columns: number;
        rows: number;
        values: Packed;
        area: [number, number, number, number] | null; // left, top, right, bottom as shares of the image; null: all of it
    }

    interface Fact {
        node: number;
        action: number | null;
        action_name: string | null;
        visits: number;
        cost: number;
        mean_cost: number | null;
        efe: number | null;
        parent_visits: number | null;
        exploration: number | null;
        uct: number | null;
    }
    interface Facts {
        trial: number;
        cycle: number;
        iteration: number;
        node: number;
        exp_const: number;
        facts: Fact;
        parent: Fact | null;
        children: Fact[];
        selected: number | null;
        best: number | null;
        plan: number[];
    }
    interface ActionSummary {
        action: number;
        name: string;
        visits: number;
        mean_cost: number;
        exploration: number;
        uct: number;
        efe: number;
        then: string[];
    }
    interface Why {
        iteration: number;
        chosen: number;
        performed: number | null;
        terms: string[];
        actions: (ActionSummary & { terms: number[] })[];
        against: { action: number; difference: number; tied: boolean; terms: number[]; deciding: string }[];
        text: string;
    }

    interface WhatIf {
        trial: number;
        cycle: number;
        evidence?: Record<string, number | string | number[] | null | { soften: number }>;
        exp_const?: number;
        iterations?: number;
        action?: number;
    }
    interface Outcome {
        evidence: Record<string, number[] | null>;
        observed: Record<string, string>;
        log_evidence: number;
        exact: boolean;
        posterior: Vectors;
        exp_const: number;
        iterations: number;
        chosen: number | null;
        chosen_name: string | null;
        forced: boolean;
        plan: number[];
        plan_names: string[];
        actions: ActionSummary[];
        after: null | { action: number; beliefs: Vectors; observations: Vectors; efe: Efe };
    }

    type Command =
        | { command: "reset" | "finish" | "stop" }
        | { command: "plan"; iterations: number }
        | { command: "act"; action?: number };
    interface Commanded { cursor: Cursor; over: boolean }
    type LiveEvent =
        | { type: "hello"; cursor: Cursor; over: boolean; busy: boolean }
        | { type: "hello"; cursor: null; over: boolean; busy: boolean; trials: number }
        | { type: "trace"; reason: "reset" | "plan" | "act"; cursor: Cursor; over: boolean }
        | { type: "busy"; busy: boolean; command: string }
        | { type: "trials"; trials: number }
        | { type: "closing" }
        | { type: "lost" };

    interface Data {
        info(): Promise<Info>;
        trials(at: Record<string, never>): Promise<Trials>;
        trial(at: { trial: number }): Promise<TrialCycles>;
        worst(at: { trial: number }): Promise<Worst>;
        cycle(at: { trial: number; cycle: number; from?: number }): Promise<Cycle>;
        curves(at: { trial: number; cycle: number }): Promise<Curves>;
        node(at: { trial: number; cycle: number; node: number }): Promise<Node>;
        cells(at: { trial: number; cycle: number; node: number; part: string }): Promise<Cells>;
        occupancy(at: { trial: number; cycle: number; node: number; x: string; y: string }): Promise<Occupancy>;
        facts(at: Cursor): Promise<Facts>;
        why(at: { trial: number; cycle: number; iteration: number }): Promise<Why>;
        whatIf(body: WhatIf): Promise<{ original: Outcome; altered: Outcome }>;
        command(body: Command): Promise<Commanded>;
        events(listener: (event: LiveEvent) => void): () => void;
    }
}
