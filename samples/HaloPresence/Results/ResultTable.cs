using Harness.Report;

namespace HaloPresence.Results;

/// <summary>Prints the comparison as a table.</summary>
public static class ResultTable
{
    /// <summary>Prints to the console.</summary>
    public static void Print(IReadOnlyList<RunResult> runs)
    {
        TextTable.Print(Comparison.Titles(runs), Comparison.Rows(runs));
        foreach (RunResult run in runs)
        {
            foreach (string text in run.ErrorTexts)
                Console.WriteLine($"{run.Optimize}: {text}");
        }
    }
}
