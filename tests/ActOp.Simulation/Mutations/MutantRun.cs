using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;

namespace ActOp.Simulation.Mutations;

/// <summary>Builds a copy of the sources with all mutations behind a switch, and plays seeds with each of them.</summary>
internal static partial class MutantRun
{
    private const string Switch = "ACTOP_PLANTED";

    /// <summary>Simulations at a time: each has one busy thread.</summary>
    private const int Parallel = 2;

    /// <summary>A mutant may run in circles within one event, which nothing inside of the simulation notices.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    /// <summary>Which seed has found a mutation, and by which oracle; null when none has within the budget.</summary>
    private sealed record Finding(Mutation Mutation, (string Place, string Oracle)? First);

    /// <summary>
    /// Plays the mutations with these numbers, or all, with no more than <paramref name="most"/> seeds each; returns how many were not
    /// found.
    /// </summary>
    internal static int Play(int[] numbers, int most)
    {
        var root = FindRoot();
        var copy = Path.Combine(root, "artifacts", "mutants");
        Write(root, copy);
        if (Start(copy, 0, "build", "-c", "Release", "-v", "q", "-nologo", Path.Combine(copy, "tests", "ActOp.Simulation")) is (not 0,
            var errors))
        {
            throw new InvalidOperationException("The mutants do not compile:\n" + errors);
        }

        var chosen = Table.All.Where(mutation => numbers.Length == 0 || numbers.Contains(mutation.Number)).ToArray();
        var findings = new List<Finding>();
        using var places = new SemaphoreSlim(Parallel);
        var threads = chosen.Select(mutation => new Thread(() =>
        {
            places.Wait();
            var finding = new Finding(mutation, First(copy, mutation, Math.Min(mutation.Budget, most)));
            lock (findings)
            {
                findings.Add(finding);
                Console.Error.WriteLine(findings.Count + " of " + chosen.Length + ": " + Row(finding));
            }

            places.Release();
        })).ToArray();
        foreach (var thread in threads)
            thread.Start();
        foreach (var thread in threads)
            thread.Join();
        Console.WriteLine("| | planted | oracle | seeds | budget |");
        Console.WriteLine("|---|---|---|---|---|");
        foreach (var finding in findings.OrderBy(static finding => finding.Mutation.Number))
            Console.WriteLine(Row(finding));
        return findings.Count(static finding => finding.First is null);
    }

    /// <summary>The mutations whose passage does not stand exactly once in its file.</summary>
    internal static IEnumerable<string> Outdated(string root) =>
        from mutation in Table.All
        let text = File.ReadAllText(Path.Combine(root, "src", mutation.File))
        where !StandsOnce(text, mutation)
        select "The passage of mutation " + mutation.Number + " (" + mutation.Name + ") does not stand once in " + mutation.File + ": " +
            mutation.Passage;

    internal static string FindRoot()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "ActOp.sln")))
            folder = folder.Parent;
        return folder?.FullName ?? throw new InvalidOperationException("The sources are not around this program.");
    }

    private static string Row(Finding finding) =>
        string.Create(CultureInfo.InvariantCulture,
            $"| {finding.Mutation.Number} | {finding.Mutation.Name} | {finding.First?.Oracle ?? "NOT FOUND"} | {finding.First?.Place ?? "-"}{(finding.Mutation.Theme == World.Theme.Any ? "" : " of " + finding.Mutation.Theme.ToString().ToLowerInvariant())} | {finding.Mutation.Budget} |");

    private static bool StandsOnce(string text, Mutation mutation)
    {
        var at = text.IndexOf(mutation.Passage, StringComparison.Ordinal);
        return at >= 0 && text.IndexOf(mutation.Passage, at + 1, StringComparison.Ordinal) < 0;
    }

    /// <summary>Brings the copy up to date. Files that are as they were are not written, so that only what has changed is built.</summary>
    private static void Write(string root, string copy)
    {
        if (Outdated(root).FirstOrDefault() is { } outdated)
            throw new InvalidOperationException(outdated);
        var texts = new Dictionary<string, byte[]>(StringComparer.Ordinal);
        string[] single = ["global.json", ".editorconfig", "LICENSE", "README.md", "tests/Directory.Build.props"];
        foreach (var file in Directory.EnumerateFiles(root, "Directory.*.props").Concat(single.Select(name => Path.Combine(root, name))))
            texts[Path.GetRelativePath(root, file)] = File.ReadAllBytes(file);
        foreach (var folder in new[] { "src", "build", "tests/ActOp.Simulation" })
        {
            foreach (var file in Directory.EnumerateFiles(Path.Combine(root, folder), "*", SearchOption.AllDirectories))
            {
                var name = Path.GetRelativePath(root, file);
                if (!Generated().IsMatch(name.Replace('\\', '/')))
                    texts[name] = File.ReadAllBytes(file);
            }
        }

        foreach (var file in Table.All.GroupBy(static mutation => mutation.File))
            Change(texts, file.Key, file);
        foreach (var folder in new[] { "src", "build", "tests" }.Select(name => Path.Combine(copy, name)).Where(Directory.Exists))
        {
            foreach (var file in Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories))
            {
                var name = Path.GetRelativePath(copy, file);
                if (!Generated().IsMatch(name.Replace('\\', '/')) && !texts.ContainsKey(name))
                    File.Delete(file);
            }
        }

        foreach (var (name, bytes) in texts)
        {
            var target = Path.Combine(copy, name);
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            if (!File.Exists(target) || !File.ReadAllBytes(target).AsSpan().SequenceEqual(bytes))
                File.WriteAllBytes(target, bytes);
        }
    }

    private static void Change(Dictionary<string, byte[]> texts, string file, IEnumerable<Mutation> mutations)
    {
        var project = file.Split('/')[0];
        var type = "Planted" + project.Replace(".", "", StringComparison.Ordinal);
        var name = Path.Combine("src", file);
        var text = System.Text.Encoding.UTF8.GetString(texts[name]);
        foreach (var mutation in mutations)
        {
            text = text.Replace(mutation.Passage,
                mutation.Mutant.Replace("PLANTED", "global::" + type + ".Is(" + mutation.Number + ")", StringComparison.Ordinal),
                StringComparison.Ordinal);
        }

        texts[name] = System.Text.Encoding.UTF8.GetBytes(text);
        texts[Path.Combine("src", project, type + ".cs")] = System.Text.Encoding.UTF8.GetBytes(
            "internal static class " + type +
                "\n{\n    private static readonly int Number = int.TryParse(System.Environment.GetEnvironmentVariable(\"" + Switch +
                    "\"), out var number) ? number : 0;\n\n    internal static bool Is(int number) => Number == number;\n}\n");
    }

    /// <summary>The first seed in which an oracle reports the mutation, and none reports anything without it.</summary>
    private static (string Place, string Oracle)? First(string copy, Mutation mutation, int budget)
    {
        if (mutation.Scenario is not null)
            return FirstExplored(copy, mutation, budget);
        for (var seed = 1; seed <= budget;)
        {
            var found = Found(copy, mutation.Number, mutation.Theme, seed, budget);
            if (found.Count == 0)
                return null;
            seed = found[0].Seed;
            if (Found(copy, 0, mutation.Theme, seed, seed).Count == 0)
                return (seed.ToString(CultureInfo.InvariantCulture), found[0].Oracle);
            seed++;
        }

        return null;
    }

    /// <summary>The first interference with a scenario that an oracle sees only with the mutation.</summary>
    private static (string Place, string Oracle)? FirstExplored(string copy, Mutation mutation, int budget)
    {
        string[] arguments = ["--explore", mutation.Scenario!, "--budget", budget.ToString(CultureInfo.InvariantCulture)];
        var (_, output) = Start(copy, mutation.Number, [ProgramOf(copy), .. arguments, "--most", "1"]);
        var found = ExploredLine().Match(output);
        if (!found.Success)
            return null;
        var (_, natural) = Start(copy, 0, [ProgramOf(copy), "--explore", .. found.Groups[1].Value.Split(' ')]);
        return ExploredLine().IsMatch(natural) ? null : (found.Groups[1].Value, found.Groups[2].Value);
    }

    private static string ProgramOf(string copy) =>
        Path.Combine(copy, "tests", "ActOp.Simulation", "bin", "Release", "net10.0", "ActOp.Simulation.dll");

    /// <summary>What the first seed with violations violates.</summary>
    private static List<(int Seed, string Oracle)> Found(string copy, int number, World.Theme theme, int first, int last)
    {
        var (_, output) = Start(copy, number, ProgramOf(copy), "--seeds", first + "-" + last, "--theme", theme.ToString());
        return [.. ViolationLine().Matches(output).Select(static match => (int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture),
            match.Groups[2].Value))];
    }

    private static (int Code, string Output) Start(string folder, int number, params string[] arguments)
    {
        var start = new ProcessStartInfo(
            "dotnet")
        { RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = folder };
        foreach (var argument in arguments)
            start.ArgumentList.Add(argument);
        start.Environment[Switch] = number.ToString(CultureInfo.InvariantCulture);
        using var process = Process.Start(start)!;
        var output = new System.Text.StringBuilder();
        process.OutputDataReceived += (_, line) => output.Append(line.Data).Append('\n');
        process.ErrorDataReceived += (_, _) => { };
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        if (!process.WaitForExit(Patience))
            process.Kill();
        process.WaitForExit();
        return (process.ExitCode, output.ToString());
    }

    [GeneratedRegex("(^|/)(bin|obj)/")]
    private static partial Regex Generated();

    [GeneratedRegex(@"^seed (\d+) at [^ ]+ ([a-z ]+):", RegexOptions.Multiline)]
    private static partial Regex ViolationLine();

    [GeneratedRegex(@"^explore ([a-z]+(?: --at [0-9,]+ --way [a-z,]+)?) at [^ ]+ ([a-z ]+):", RegexOptions.Multiline)]
    private static partial Regex ExploredLine();
}
