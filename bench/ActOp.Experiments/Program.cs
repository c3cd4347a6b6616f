using System.CommandLine;
using ActOp.Experiments.Results;
using ActOp.Experiments.Running;
using ActOp.Harness.Reports;

Option<string> folder = new("--html")
{
    Description = "Folder for the results of each experiment: a page, JSON and CSV.",
    DefaultValueFactory = static _ => Path.Combine("artifacts", "experiments"),
};
Argument<string[]> names = new("names") { Description = "Experiments, or all. 'list' shows what there is.", Arity = ArgumentArity.OneOrMore };
Option<double?> minutes = new("--minutes")
{
    Description = "How long all of them may take together, on two processors; their full length if it is not given. Short runs say little.",
};
Option<string?> json = new("--json") { Description = "File for the results of this run as JSON." };
Option<bool> resume = new("--resume") { Description = "Keeps the results in the folder that have the same command and version." };
Option<int> atOnce = new("--at-once")
{
    Description = "Experiments at the same time, 1 to 8. More than one disturb each other: only to see that everything works.",
    DefaultValueFactory = static _ => 1,
};
Option<bool> ignoreBars = new("--ignore-bars")
{
    Description = "Succeed when a bar is missed too, but not when an experiment fails: for runs that are too short to judge by.",
};
Command run = new("run", "Runs experiments and prints their numbers beside those of the papers. Fails when a bar is missed.")
{
    names, minutes, json, folder, resume, atOnce, ignoreBars,
};
run.SetAction(async (parsed, cancellation) =>
{
    var wanted = parsed.GetValue(names)!;
    var chosen = wanted is ["all"] ? Catalog.All : [.. wanted.Select(Catalog.Find).OfType<Experiment>()];
    if (chosen.Count < wanted.Length)
    {
        Console.Error.WriteLine("Unknown: " + string.Join(", ", wanted.Where(static name => Catalog.Find(name) is null)) + ". 'list' shows what there is.");
        return 2;
    }

    if (parsed.GetValue(minutes) is not (null or (> 0 and <= 10_000)))
    {
        Console.Error.WriteLine("--minutes must be above 0 and at most 10000.");
        return 2;
    }

    if (parsed.GetValue(atOnce) is < 1 or > 8)
    {
        Console.Error.WriteLine("--at-once must be 1 to 8.");
        return 2;
    }

    var into = parsed.GetValue(folder)!;
    var results = await new ExperimentRun(
        new RunSettings(chosen, parsed.GetValue(minutes), into, parsed.GetValue(resume), parsed.GetValue(atOnce)))
        .RunAsync(cancellation);
    foreach (var result in results)
    {
        Console.WriteLine($"\n{result.Name}: {result.Verdict.Split('\n')[0]}");
        Book.Print(result);
    }

    if (parsed.GetValue(json) is { } file)
        ReportFile.WriteJson(file, results);
    // Once more at the end, with all that their programs said: the end of a log is what is kept of it.
    foreach (var result in results.Where(static result => result.HasFailed))
        Console.WriteLine($"{result.Name} {result.Verdict}");
    Console.WriteLine($"{results.Count} of {chosen.Count} experiments, {results.Count(static result => result.HasFailed)} failed, "
        + $"{results.Count(static result => result.Misses)} miss a bar; pages: {Path.GetFullPath(into)}");
    // 130: interrupted, as a shell says it.
    return results.Count < chosen.Count ? 130
        : results.Any(static result => result.HasFailed) || (results.Any(static result => result.Misses) && !parsed.GetValue(ignoreBars)) ? 1 : 0;
});
Command list = new("list", "Lists every figure and table of the papers: its experiment, and the verdict of the results in the folder.") { folder };
list.SetAction(parsed => TextTable.Print(Catalog.Columns, Catalog.Lines(ExperimentResult.ReadAll(parsed.GetValue(folder)!))));
Command book = new("book", "Writes one page with all results in the folder.") { folder };
book.SetAction(parsed =>
{
    var into = parsed.GetValue(folder)!;
    var results = ExperimentResult.ReadAll(into);
    if (results.Count == 0)
    {
        Console.Error.WriteLine($"There are no results in {Path.GetFullPath(into)}. 'run' makes some.");
        return 1;
    }

    var page = Path.Combine(into, "book.html");
    ReportFile.Write(page, Book.Render(results));
    Console.WriteLine($"{results.Count} of {Catalog.All.Count} experiments: {Path.GetFullPath(page)}");
    return 0;
});
return await new RootCommand("Every figure of the papers, by one command.") { run, list, book }.Parse(args).InvokeAsync();
