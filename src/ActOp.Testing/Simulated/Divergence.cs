using System.Text;

namespace ActOp.Testing.Simulated;

/// <summary>
/// Looks for the first step at which two runs of one seed differ: what is different is not of the simulation.
/// </summary>
/// <remarks>Owns two traces, each as long as a run. Only the thread that explores uses it.</remarks>
internal static class Divergence
{
    /// <summary>What differs by the clock on the wall does not always differ.</summary>
    private const int MostTries = 5;

    /// <summary>Steps before the first that differs, which are shown.</summary>
    private const int Before = 3;

    /// <summary>Says where the runs differ.</summary>
    /// <param name="play">Plays the seed and writes its steps.</param>
    internal static string Explain(Action<TextWriter> play)
    {
        var one = Trace(play);
        for (var tries = 0; tries < MostTries; tries++)
        {
            var other = Trace(play);
            var step = 0;
            while (step < one.Length && step < other.Length && one[step] == other[step])
                step++;
            if (step < Math.Max(one.Length, other.Length))
                return Say(one, other, step);
        }

        return "Played " + (MostTries + 1) + " times more, the runs do not differ." + Environment.NewLine;
    }

    private static string[] Trace(Action<TextWriter> play)
    {
        using var text = new StringWriter { NewLine = "\n" };
        play(text);
        return text.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries);
    }

    private static string Say(string[] one, string[] other, int step)
    {
        var text = new StringBuilder();
        for (var same = Math.Max(0, step - Before); same < step; same++)
            text.AppendLine("  both runs:  " + one[same]);
        text.AppendLine("  first run:  " + (step < one.Length ? one[step] : "has ended"));
        text.AppendLine("  second run: " + (step < other.Length ? other[step] : "has ended"));
        return text.ToString();
    }
}
