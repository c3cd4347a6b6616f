using System.Diagnostics;
using System.Globalization;
using ActOp.Calls;
using ActOp.Serialization;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Explore;

/// <summary>Plays scenarios once for each of their requests and each way in which it can go wrong.</summary>
internal sealed class Explorer
{
    private const ulong Seed = 1;

    /// <summary>Occurrences of one kind of request, at most, that are interfered with; spread over the run.</summary>
    private const int DefaultDepth = 8;

    /// <summary>Second interferences of a run with a first one.</summary>
    private const long PairTime = 6 * Pump.Second;

    /// <summary>What the pipeline plays: where the answer decides who goes on with a grain.</summary>
    private static readonly (string Scenario, string Kinds, Way[] Ways, int Depth)[] Short =
    [
        ("move", "IMigrationTarget,IDirectoryTarget.Register", [Way.Answer, Way.SenderCut, Way.ReceiverCut, Way.Late], 3),
        ("birth", "IDirectoryTarget", [Way.Answer, Way.ReceiverCrash, Way.Late], 2),
        ("hint", "IDirectoryTarget", [Way.Answer, Way.Late], 2),
    ];

    private readonly Dictionary<string, string> _options;
    private readonly Way[] _ways;
    private readonly int _depth;
    private readonly int _budget;
    private readonly int _most;
    private readonly TimeSpan _patience;
    private readonly Stopwatch _watch = Stopwatch.StartNew();
    private readonly HashSet<string> _reached = [];
    private readonly List<Violation> _violations = [];

    private Explorer(Dictionary<string, string> options)
    {
        _options = options;
        _ways = options.TryGetValue("--ways", out var ways)
            ? [.. ways.Split(',').Select(static way => Enum.Parse<Way>(way, ignoreCase: true))] : Enum.GetValues<Way>();
        _depth = options.TryGetValue("--depth", out var depth) ? int.Parse(depth) : DefaultDepth;
        _budget = options.TryGetValue("--budget", out var budget) ? int.Parse(budget) : int.MaxValue;
        _most = options.TryGetValue("--most", out var most) ? int.Parse(most) : int.MaxValue;
        _patience = options.TryGetValue("--minutes", out var minutes) ? TimeSpan.FromMinutes(double.Parse(minutes)) : TimeSpan.MaxValue;
    }

    /// <summary>Plays what the options say; returns the violations.</summary>
    internal static IReadOnlyList<Violation> Play(Dictionary<string, string> options)
    {
        var explorer = new Explorer(options);
        explorer.Play(options["--explore"]);
        return explorer._violations;
    }

    private void Play(string names)
    {
        if (names == "short")
        {
            foreach (var (name, kinds, ways, depth) in Short)
                Explore(Find(name), kinds.Split(','), ways, depth);
            return;
        }

        var scenarios = names is "" or "all" ? Scenarios.All : [.. names.Split(',').Select(Find)];
        if (_options.TryGetValue("--at", out var at))
        {
            PlayOne(scenarios[0], at);
            return;
        }

        var wanted = _options.TryGetValue("--kinds", out var some) ? some.Split(',') : [];
        foreach (var scenario in scenarios)
            Explore(scenario, wanted, _ways, _depth);
        if (names is "" or "all")
            ReportUnreached();
    }

    private static Scenario Find(string name) => Array.Find(Scenarios.All, scenario => scenario.Name == name)
        ?? throw new FormatException("There is no scenario " + name + ".");

    private void PlayOne(Scenario scenario, string at)
    {
        var ways = _options.GetValueOrDefault("--way", "").Split(',');
        Interference[] plan = [.. at.Split(',').Zip(ways,
            static (number, way) => new Interference(int.Parse(number), Enum.Parse<Way>(way, ignoreCase: true)))];
        using var trace = _options.TryGetValue("--trace", out var file) ? new StreamWriter(file) : null;
        var (outcome, tap) = Run(scenario, plan, trace);
        if (_options.ContainsKey("--hash"))
            Console.WriteLine("hash " + outcome.Hash.ToString("x16"));
        if (_options.ContainsKey("--list"))
        {
            foreach (var request in tap.Requests)
                Console.WriteLine(Tell(request) + " at " + new TimeSpan(request.Time));
        }

        Report(scenario, plan, outcome, tap, isWhole: true);
        Console.WriteLine("happened    " + tap.Happened + " of " + plan.Length);
        Console.WriteLine("simulated   " + outcome.Simulated);
        Console.WriteLine("violations  " + outcome.Violations.Count);
    }

    private void Explore(Scenario scenario, string[] kinds, Way[] ways, int depth)
    {
        var begin = _watch.Elapsed;
        var found = _violations.Count;
        var (outcome, reference) = Run(scenario, [], null);
        Report(scenario, [], outcome, reference, isWhole: true);
        foreach (var request in reference.Requests)
            _reached.Add(request.Kind);
        var (runs, missed) = (1, 0);
        var firsts = Choose(reference.Requests, kinds, depth).SelectMany(request => ways.Where(request.Permits)
            .Select(way => new Interference(request.Number, way)));
        foreach (var first in firsts)
        {
            if (IsEnough(runs))
                break;
            var tap = PlayPlan(scenario, [first], ref runs, ref missed);
            if (!_options.ContainsKey("--pairs") || tap.Happened == 0)
                continue;
            foreach (var second in SecondsOf(reference.Requests[first.Number], tap.Requests, kinds, ways, depth))
            {
                if (IsEnough(runs))
                    break;
                PlayPlan(scenario, [first, second], ref runs, ref missed);
            }
        }

        Console.WriteLine("scenario " + scenario.Name + ": " + reference.Requests.Count + " requests of "
            + reference.Requests.Select(static request => request.Kind).Distinct().Count() + " kinds, " + runs + " runs, " + missed
            + " without effect, " + (_violations.Count - found) + " violations, "
            + (_watch.Elapsed - begin).TotalSeconds.ToString("F1", CultureInfo.InvariantCulture) + " s");
        Console.WriteLine("  " + string.Join(", ", reference.Requests.GroupBy(static request => request.Kind)
            .OrderByDescending(static kind => kind.Count()).Select(static kind => kind.Key + " " + kind.Count())));
    }

    private bool IsEnough(int runs) => runs > _budget || _watch.Elapsed > _patience || _violations.Count >= _most;

    private Tap PlayPlan(Scenario scenario, Interference[] plan, ref int runs, ref int missed)
    {
        var (outcome, tap) = Run(scenario, plan, null);
        runs++;
        missed += tap.Happened < plan.Length ? 1 : 0;
        Report(scenario, plan, outcome, tap, isWhole: false);
        return tap;
    }

    /// <summary>
    /// The requests to interfere with: of each kind some that are spread over the run, the first of every kind before the second of any.
    /// </summary>
    private static IEnumerable<Request> Choose(IReadOnlyList<Request> requests, string[] kinds, int depth)
    {
        var chosen = requests.Where(request => kinds.Length == 0
                || Array.Exists(kinds, kind => request.Kind.StartsWith(kind, StringComparison.Ordinal)))
            .GroupBy(static request => request.Kind).Select(kind => Spread([.. kind], depth)).ToArray();
        for (var round = 0; round < depth; round++)
        {
            foreach (var kind in chosen.Where(kind => kind.Length > round))
                yield return kind[round];
        }
    }

    private static Request[] Spread(Request[] all, int most) => all.Length <= most
        ? all : [.. Enumerable.Range(0, most).Select(at => all[(int)((long)at * all.Length / most)])];

    /// <summary>What can go wrong soon after the first thing has, as the run with it shows.</summary>
    private static IEnumerable<Interference> SecondsOf(
        Request first, IReadOnlyList<Request> requests, string[] kinds, Way[] ways, int depth) =>
        Choose([.. requests.Where(request => request.Number > first.Number && request.Time - first.Time < PairTime)], kinds, depth)
            .SelectMany(request => ways.Where(request.Permits).Select(way => new Interference(request.Number, way)));

    private static (Outcome Outcome, Tap Tap) Run(Scenario scenario, Interference[] plan, TextWriter? trace)
    {
        var scripted = new Scripted(scenario, plan);
        var outcome = Simulation.Run.Play(Seed, Theme.Any, trace, scripted);
        return (outcome, scripted.Tap);
    }

    private void Report(Scenario scenario, Interference[] plan, Outcome outcome, Tap tap, bool isWhole)
    {
        var place = "explore " + scenario.Name + (plan.Length == 0 ? "" : " --at " + string.Join(',', plan.Select(static one => one.Number))
            + " --way " + string.Join(',', plan.Select(static one => one.Way.ToString().ToLowerInvariant())));
        foreach (var violation in outcome.Violations)
        {
            _violations.Add(violation);
            Console.WriteLine(place + " at " + new TimeSpan(violation.Time) + " " + violation.Oracle + ": "
                + (isWhole ? violation.Text : violation.Text.Split('\n')[0]));
        }

        if (outcome.Violations.Count == 0)
            return;
        foreach (var one in plan.Where(one => one.Number < tap.Requests.Count))
            Console.WriteLine("  " + Tell(tap.Requests[one.Number]));
    }

    private static string Tell(Request request) =>
        "request " + request.Number + " " + request.Kind + " of " + request.From + " to " + request.To;

    /// <summary>Every request of the runtime is played, or there is a reason why it is not.</summary>
    private void ReportUnreached()
    {
        var missing = Unreached.OfRuntime().Where(kind => !_reached.Contains(kind)).Order(StringComparer.Ordinal).ToArray();
        Console.WriteLine("unreached   " + missing.Length + ": " + string.Join(", ", missing));
        foreach (var kind in missing.Where(static kind => !Unreached.Reasons.ContainsKey(kind)))
            Accuse("No scenario plays the request " + kind + ", and no reason is given.");
        foreach (var kind in Unreached.Reasons.Keys.Where(kind => !missing.Contains(kind)))
            Accuse("The request " + kind + " has a reason not to be played, but it is played or does not exist.");

        void Accuse(string text)
        {
            Console.WriteLine(text);
            _violations.Add(new Violation("unreached", 0, text));
        }
    }
}

/// <summary>The requests between nodes of the runtime that no scenario plays.</summary>
internal static class Unreached
{
    /// <summary>Why, by kind.</summary>
    internal static readonly IReadOnlyDictionary<string, string> Reasons = new Dictionary<string, string>(StringComparer.Ordinal)
    {
        ["IClusterTarget.UseTable"] = "The table of the simulation is a database. The one in a silo has tests of its own (EmbeddedTable).",
        ["IDirectoryTarget.EndDuplicate"] = "Two registrations meet in a rebuilt slot only after something else has gone wrong.",
        ["IGroupManagement.Change"] = Groups,
        ["IGroupManagement.GetGroups"] = Groups,
        ["IManagementGrain.ForceGarbageCollection"] = Garbage,
        ["IManagementGrain.GetGrainCallFrequencies"] = Refused,
        ["IManagementGrain.ResetGrainCallFrequencies"] = Refused,
        ["IManagementGrain.SendControlCommandToProvider"] = Command,
        ["IManagementTarget.BeginStop"] = Operators,
        ["IManagementTarget.CollectGarbage"] = Garbage,
        ["ISnapshotTarget.GetSnapshot"] = "It reads what the silo has counted, and changes nothing.",
        ["IManagementTarget.GetGroupChanges"] = Groups,
        ["IManagementTarget.GetGroups"] = Groups,
        ["IManagementTarget.RunCommand"] = Command,
        ["IManagementTarget.SetGroup"] = Groups,
        ["IMemoryStreamQueueGrain.Dequeue"] = "For receivers that applications bring; the agents of the runtime take and acknowledge.",
        ["IOperatorTarget.Drain"] = Operators,
        ["IOperatorTarget.GetReport"] = Operators,
        ["IOperatorTarget.Locate"] = Operators,
        ["IOperatorTarget.Move"] = Operators,
        ["IPubSubRendezvousGrain.ProducerCount"] = "Nobody in the runtime asks.",
        ["IPubSubRendezvousGrain.FaultSubscription"] = "A subscription ends by itself only after deliveries have failed.",
        ["IReminderService.GetReminder"] = Service,
        ["IReminderService.GetReminders"] = Service,
        ["IReminderService.RegisterOrUpdateReminder"] = Service,
        ["IReminderService.Start"] = Service,
        ["IReminderService.Stop"] = Service,
        ["IReminderService.UnregisterReminder"] = Service,
        ["IReminderTableTarget.Clear"] = "For tests of applications.",
        ["IStreamCheckpointerGrain.Load"] = Checkpoint,
        ["IStreamCheckpointerGrain.Update"] = Checkpoint,
        ["IStreamConsumerExtension.Fail"] = "A subscriber is told only after deliveries have failed.",
    };

    private const string Operators =
        "Clients ask it, and there is nothing to repair if the answer is lost: they look at the cluster. Moves and stops are played.";

    private const string Groups = "The silos of the scenarios have no groups. A change that comes twice or late has tests (GroupChangeTests).";
    private const string Garbage = "It has no effect but time.";
    private const string Refused = "It is refused before another silo is asked: frequencies are not counted.";
    private const string Command = "What it does is up to a provider of the application.";
    private const string Service = "For grain services of applications; the grains of the runtime use IReminderTarget.";
    private const string Checkpoint = "For streams that can be read again, whose adapters applications bring.";

    /// <summary>All kinds: methods of interfaces of the runtime, notes about requests, and operations of the table.</summary>
    internal static IEnumerable<string> OfRuntime() =>
    [
        .. TypeManifest.Methods.Where(static method => IsOfRuntime(method.InterfaceType))
            .Select(static method => method.InterfaceType.Name + "." + method.Name).Distinct(),
        "note.Cancel", "note.Forwarded", "table.Heartbeat", "table.Read", "table.Write",
    ];

    private static bool IsOfRuntime(Type type) => type.Assembly.IsDefined(typeof(OfRuntimeAttribute), inherit: false)
        || type.Assembly == typeof(IGrain).Assembly;
}
