using System.Globalization;
using System.Text.Json;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;

namespace ActOp.Bench.Attacks;

/// <summary>What an attacker has to report.</summary>
/// <param name="Bytes">Bytes that it has sent.</param>
/// <param name="Cpu">Share of a processor that it took.</param>
internal sealed record AttackerReport(long Bytes, double Cpu);

/// <summary>The result of one attack.</summary>
/// <param name="Attack">Its name.</param>
/// <param name="Line">The line of the list of attacks.</param>
/// <param name="What">What it does, and its rate.</param>
/// <param name="Alone">What the honest client saw before.</param>
/// <param name="Beside">What it saw meanwhile.</param>
/// <param name="Attacker">What was sent; null if the attacker failed.</param>
/// <param name="Silo">Whether the silo lived to the end.</param>
/// <param name="RssBefore">Resident memory of the silo before, MiB.</param>
/// <param name="RssPeak">Its peak from then to the end of the attack, MiB.</param>
/// <param name="RssAfter">10 s after the end, or when the live heap was back, MiB.</param>
/// <param name="HeapBefore">Live managed memory before, MiB.</param>
/// <param name="HeapAfter">The same after the end, MiB.</param>
/// <param name="BackAfter">Seconds until it was back; null if it was not within 10 s.</param>
/// <param name="AllowedMemory">The most that the peak may be above <paramref name="RssBefore"/>, MiB.</param>
/// <param name="SiloCpu">Share of a processor that the silo took meanwhile.</param>
/// <param name="Paused">Share of the time in which its collector stopped all its threads.</param>
/// <param name="LogLines">Lines that the silo logged meanwhile.</param>
/// <param name="LogKilobytes">Their length.</param>
/// <param name="Missed">The bars that it missed.</param>
internal sealed record AttackResult(
    string Attack, string Line, string What, HonestPhase? Alone, HonestPhase? Beside, AttackerReport? Attacker, bool Silo, double RssBefore,
    double RssPeak, double RssAfter, double HeapBefore, double HeapAfter, double? BackAfter, double AllowedMemory, double SiloCpu,
    double Paused, long LogLines, double LogKilobytes, IReadOnlyList<string> Missed)
{
    /// <summary>p99 meanwhile divided by p99 alone.</summary>
    public double Ratio => Alone is { P99: > 0 } && Beside is not null ? Beside.P99 / Alone.P99 : double.NaN;
}

/// <summary>
/// One attack against a silo, beside an honest client: processes of their own, between them relays with half of the round trip each way. The
/// attacker has a relay in another process: the network between the honest client and the silo is not the one that the attacker fills. The
/// silo and the client are new for each attack.
/// </summary>
internal sealed class AttackRun(Attack attack, AttackSettings settings) : IAsyncDisposable
{
    internal const string RelayCommand = "attack-relay";

    /// <summary>What the collector may keep beyond what is live, and what code that runs for the first time takes.</summary>
    private const double CollectorMegabytes = 128;
    private const double HeapSlackMegabytes = 16;
    private const int BytesPerByte = 128;
    private const double MaxRatio = 3;
    private const int MaxLogLines = 300;
    private static readonly TimeSpan BackLimit = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(90);

    private readonly List<IAsyncDisposable> _processes = [];
    private readonly List<IDisposable> _relays = [];
    private readonly Transcript _siloSays = new();
    private readonly Transcript _clientSays = new();
    private int _readings;

    internal async Task<AttackResult> ExecuteAsync()
    {
        var ports = Ports.FindFree(6);
        var line = new DelayLine(settings.RoundTrip / 2);
        _relays.Add(new DelayRelay(ports[0], ports[2], line));
        _relays.Add(new DelayRelay(ports[1], ports[3], line));
        _relays.Add(line);
        var silo = Start("silo", _siloSays, AttackSilo.Command, [.. ports[..4].Select(Text)]);
        await Hears(_siloSays, "ready");
        var relaySays = new Transcript();
        Start(
            "relay", relaySays, RelayCommand,
            [Text(ports[4]), Text(ports[5]), Text(ports[2]), Text(ports[3]), Text(settings.RoundTrip.TotalMilliseconds / 2)]);
        await Hears(relaySays, "ready");
        var client = Start("honest client", _clientSays, HonestClient.Command, [Text(ports[1]), Text(settings.CallsPerSecond)]);
        var name = (await Hears(_clientSays, "ready "))[6..];
        client.Say("warm");
        await Task.Delay(settings.Warm);
        var attackerSays = new Transcript();
        var attacker = Start(
            "attacker", attackerSays, Attacker.Command,
            [attack.Name, Text(ports[4]), Text(ports[5]), name, Text(settings.Length.TotalSeconds)]);
        await Hears(attackerSays, "ready");
        return await MeasureAsync(silo, client, attacker, attackerSays);
    }

    /// <summary>The network of the attacker, in a process of its own, until its standard input ends.</summary>
    /// <param name="listening">Ports that the attacker dials: silo and gateway.</param>
    /// <param name="targets">The silo's own.</param>
    /// <param name="delay">The time of one way.</param>
    internal static async Task<int> RelayAsync(int[] listening, int[] targets, TimeSpan delay)
    {
        using var line = new DelayLine(delay);
        using var silo = new DelayRelay(listening[0], targets[0], line);
        using var gateway = new DelayRelay(listening[1], targets[1], line);
        Console.Out.WriteLine("ready");
        Console.Out.Flush();
        await Console.In.ReadToEndAsync();
        return 0;
    }

    private async Task<AttackResult> MeasureAsync(
        ChildProcess silo, ChildProcess client, ChildProcess attacker, Transcript attackerSays)
    {
        await ReadAsync(silo, AttackSilo.Collect);
        client.Say("alone");
        await Task.Delay(settings.Length);
        var before = (await ReadAsync(silo, AttackSilo.Collect))!;
        using var memory = new MemoryWatch(silo.Id);
        var rss = memory.Peak;
        var (cpu, begin) = (silo.Cpu, new MonotonicClock().Now);
        client.Say("attack");
        attacker.Say("go");
        var report = await EndOfAsync(attacker, attackerSays);
        var length = new MonotonicClock().Now - begin;
        cpu = silo.HasExited ? default : silo.Cpu - cpu;
        var ended = await ReadAsync(silo, "");
        var paused = (ended?.PauseMs ?? 0) - before.PauseMs;
        client.Say("after");
        var peak = memory.Peak;
        var (last, back) = await WaitForMemoryAsync(silo, before);
        var after = memory.Now();
        client.Say("");
        await Hears(_clientSays, "reported");
        var phases = Phases();
        var result = new AttackResult(
            attack.Name, attack.Line, attack.Rate, phases.Find(static phase => phase.Phase == "alone"),
            phases.Find(static phase => phase.Phase == "attack"), report, !silo.HasExited, rss, peak, after, Megabytes(before.Heap),
            Megabytes(last?.Heap ?? 0), back, (BytesPerByte * Megabytes(report?.Bytes ?? 0)) + attack.CapMegabytes + CollectorMegabytes,
            cpu / length, paused / length.TotalMilliseconds, (ended?.LogLines ?? 0) - before.LogLines,
            ((ended?.LogBytes ?? 0) - before.LogBytes) / 1024.0, []);
        return result with { Missed = [.. Judge(result)] };
    }

    private IEnumerable<string> Judge(AttackResult result)
    {
        if (!result.Silo)
            yield return "the silo has ended";
        if (result.Attacker is null)
            yield return "the attacker failed";
        if (result.Beside is not { Calls: > 0 } beside || result.Alone is not { Calls: > 0 })
        {
            yield return "no calls";
            yield break;
        }

        if (beside.Failed > 0)
            yield return $"{beside.Failed} calls failed: {string.Join("; ", beside.Errors)}";
        if (beside.ConnectsFailed > 0)
            yield return $"{beside.ConnectsFailed} handshakes failed";
        if (result.Ratio > MaxRatio)
            yield return $"p99 {result.Ratio:F1} times";
        if (result.RssPeak - result.RssBefore > result.AllowedMemory)
            yield return $"{result.RssPeak - result.RssBefore:F0} MiB of {result.AllowedMemory:F0}";
        if (result.BackAfter is null && attack.Keeps is null)
            yield return $"{result.HeapAfter - result.HeapBefore:F0} MiB are not given back";
        if (result.LogLines > MaxLogLines)
            yield return $"{result.LogLines} log lines";
    }

    /// <summary>Waits until the live memory is what it was, 10 s at most; null if it is not.</summary>
    private async Task<(SiloReading? Last, double? Back)> WaitForMemoryAsync(ChildProcess silo, SiloReading before)
    {
        var clock = new MonotonicClock();
        var begin = clock.Now;
        while (true)
        {
            var last = await ReadAsync(silo, AttackSilo.Collect);
            var passed = clock.Now - begin;
            if (last is null || Megabytes(last.Heap - before.Heap) <= HeapSlackMegabytes)
                return (last, last is null ? null : passed.TotalSeconds);
            if (passed > BackLimit)
                return (last, null);
            await Task.Delay(1000);
        }
    }

    private static async Task<AttackerReport?> EndOfAsync(ChildProcess attacker, Transcript says)
    {
        using var limit = new CancellationTokenSource(StartLimit);
        await attacker.WaitForExitAsync(limit.Token);
        return says.Text.Split(Environment.NewLine)
            .Select(static line => JsonLines.TryRead<AttackerReport>(line, out var report) ? report : null)
            .LastOrDefault(static one => one is not null);
    }

    /// <summary>What the silo says; null if it has ended.</summary>
    private async Task<SiloReading?> ReadAsync(ChildProcess silo, string question)
    {
        _readings++;
        try
        {
            silo.Say(question);
        }
        catch (IOException)
        {
            return null;
        }

        var answer = _siloSays.WaitForAsync(_ => Readings().Count >= _readings);
        using var limit = new CancellationTokenSource(StartLimit);
        if (await Task.WhenAny(answer, silo.WaitForExitAsync(limit.Token)) != answer)
            return null;
        return Readings()[_readings - 1];
    }

    private List<SiloReading> Readings() => JsonOf<SiloReading>(_siloSays);

    private List<HonestPhase> Phases() => JsonOf<HonestPhase>(_clientSays);

    private static List<T> JsonOf<T>(Transcript said)
        where T : class => [.. said.Text.Split(Environment.NewLine).Where(static line => line.StartsWith('{'))
            .Select(static line => JsonSerializer.Deserialize<T>(line, JsonLines.Line)!)];

    private ChildProcess Start(string name, Transcript said, string command, string[] arguments)
    {
        var process = ChildProcess.StartCommand(name, [.. ChildProcess.ThisProgram, command, .. arguments], said.Take);
        _processes.Add(process);
        return process;
    }

    private static async Task<string> Hears(Transcript said, string begin) =>
        await said.WaitForAsync(line => line.StartsWith(begin, StringComparison.Ordinal)).WaitAsync(StartLimit);

    private static double Megabytes(long bytes) => bytes / 1048576.0;

    private static string Text<T>(T value)
        where T : IFormattable => value.ToString(null, CultureInfo.InvariantCulture);

    public async ValueTask DisposeAsync()
    {
        for (var i = _processes.Count - 1; i >= 0; i--)
            await _processes[i].DisposeAsync();
        _relays.ForEach(static relay => relay.Dispose());
    }

    /// <summary>The resident memory of a process, every 20 ms.</summary>
    private sealed class MemoryWatch : IDisposable
    {
        private readonly string _path;
        private readonly Timer _timer;
        private double _peak;

        internal MemoryWatch(int process)
        {
            _path = "/proc/" + process + "/statm";
            _peak = Now();
            _timer = new Timer(_ => _peak = Math.Max(_peak, Now()), null, 20, 20);
        }

        internal double Peak => _peak;

        internal double Now()
        {
            try
            {
                var pages = long.Parse(File.ReadAllText(_path).Split(' ')[1], CultureInfo.InvariantCulture);
                return pages * Environment.SystemPageSize / 1048576.0;
            }
            catch (Exception exception) when (exception is IOException or IndexOutOfRangeException)
            {
                return 0;
            }
        }

        public void Dispose() => _timer.Dispose();
    }
}
