using System.Diagnostics;
using System.Text.RegularExpressions;

namespace ActOp.Simulation.Mutations;

/// <summary>Builds a copy of the sources with all mutations behind a switch, and plays seeds with each of them.</summary>
internal static partial class MutantRun
{
    private const string Switch = "ACTOP_PLANTED";

    /// <summary>Returns how many mutations were not found.</summary>
    internal static int Play(int[] numbers)
    {
        var root = FindRoot();
        var copy = Path.Combine(root, "artifacts", "mutants");
        Write(root, copy);
        if (Start(copy, 0, "build", "-c", "Release", "-v", "q", "-nologo", Path.Combine(copy, "tests", "ActOp.Simulation")) is (not 0, var errors))
            throw new InvalidOperationException("The mutants do not compile:\n" + errors);
        var chosen = Table.All.Where(mutation => numbers.Length == 0 || numbers.Contains(mutation.Number)).ToArray();
        var missed = 0;
        foreach (var mutation in chosen)
        {
            var first = First(copy, mutation);
            missed += first is null ? 1 : 0;
            Console.WriteLine($"{mutation.Number,3} | {mutation.Name,-60} | {(first is { } one ? $"{one.Oracle} in seed {one.Seed}" : "NOT FOUND"),-30} | within {mutation.Budget}");
        }

        return missed;
    }

    private static void Write(string root, string copy)
    {
        if (Directory.Exists(copy))
            Directory.Delete(copy, recursive: true);
        foreach (var file in Directory.EnumerateFiles(root, "Directory.*.props").Append(Path.Combine(root, "global.json")).Append(Path.Combine(root, ".editorconfig")).Append(Path.Combine(root, "LICENSE")).Append(Path.Combine(root, "README.md")))
            Copy(root, copy, file);
        Copy(root, copy, Path.Combine(root, "tests", "Directory.Build.props"));
        foreach (var folder in new[] { "src", "build", "tests/ActOp.Simulation" })
        {
            foreach (var file in Directory.EnumerateFiles(Path.Combine(root, folder), "*", SearchOption.AllDirectories))
            {
                if (!Generated().IsMatch(Path.GetRelativePath(root, file).Replace('\\', '/')))
                    Copy(root, copy, file);
            }
        }

        foreach (var file in Table.All.GroupBy(static mutation => mutation.File))
            Change(copy, file.Key, file);
    }

    private static void Change(string copy, string file, IEnumerable<Mutation> mutations)
    {
        var project = file.Split('/')[0];
        var type = "Planted" + project.Replace(".", "", StringComparison.Ordinal);
        var path = Path.Combine(copy, "src", file);
        var text = File.ReadAllText(path);
        foreach (var mutation in mutations)
        {
            var at = text.IndexOf(mutation.Passage, StringComparison.Ordinal);
            if (at < 0 || text.IndexOf(mutation.Passage, at + 1, StringComparison.Ordinal) >= 0)
                throw new InvalidOperationException("The passage of mutation " + mutation.Number + " (" + mutation.Name + ") does not stand once in " + file + ": " + mutation.Passage);
            text = text.Replace(mutation.Passage, mutation.Mutant.Replace("PLANTED", "global::" + type + ".Is(" + mutation.Number + ")", StringComparison.Ordinal), StringComparison.Ordinal);
        }

        File.WriteAllText(path, text);
        File.WriteAllText(Path.Combine(copy, "src", project, type + ".cs"),
            "internal static class " + type + "\n{\n    private static readonly string? Number = System.Environment.GetEnvironmentVariable(\"" + Switch + "\");\n\n    internal static bool Is(int number) => Number == number.ToString();\n}\n");
    }

    /// <summary>The first seed in which one of the mutation's oracles speaks up that is silent without it.</summary>
    private static (int Seed, string Oracle)? First(string copy, Mutation mutation)
    {
        var oracles = mutation.Oracles.Split(',');
        for (var seed = 1; seed <= mutation.Budget;)
        {
            var found = Found(copy, mutation.Number, seed, mutation.Budget);
            if (found.Count == 0)
                return null;
            seed = found[0].Seed;
            var natural = Found(copy, 0, seed, seed);
            foreach (var one in found)
            {
                if (one.Seed == seed && oracles.Contains(one.Oracle) && !natural.Contains(one))
                    return one;
            }

            seed++;
        }

        return null;
    }

    /// <summary>What the first seed with violations violates. A mutation may well crash the simulator: what it has said before counts.</summary>
    private static List<(int Seed, string Oracle)> Found(string copy, int number, int first, int last)
    {
        var (_, output) = Start(copy, number, Path.Combine(copy, "tests", "ActOp.Simulation", "bin", "Release", "net10.0", "ActOp.Simulation.dll"), "--seeds", first + "-" + last);
        return [.. ViolationLine().Matches(output).Select(static match => (int.Parse(match.Groups[1].Value), match.Groups[2].Value))];
    }

    private static (int Code, string Output) Start(string folder, int number, params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = folder };
        foreach (var argument in arguments)
            start.ArgumentList.Add(argument);
        start.Environment[Switch] = number.ToString(System.Globalization.CultureInfo.InvariantCulture);
        using var process = Process.Start(start)!;
        var output = new System.Text.StringBuilder();
        var errors = new Thread(() => process.StandardError.ReadToEnd());
        errors.Start();
        output.Append(process.StandardOutput.ReadToEnd());
        process.WaitForExit();
        errors.Join();
        return (process.ExitCode, output.ToString());
    }

    private static void Copy(string root, string copy, string file)
    {
        var target = Path.Combine(copy, Path.GetRelativePath(root, file));
        Directory.CreateDirectory(Path.GetDirectoryName(target)!);
        File.Copy(file, target);
    }

    private static string FindRoot()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "ActOp.sln")))
            folder = folder.Parent;
        return folder?.FullName ?? throw new InvalidOperationException("The sources are not around this program.");
    }

    [GeneratedRegex("(^|/)(bin|obj)/")]
    private static partial Regex Generated();

    [GeneratedRegex(@"^seed (\d+) at [^ ]+ ([a-z ]+):", RegexOptions.Multiline)]
    private static partial Regex ViolationLine();
}
