using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;

namespace Heartbeat.Bench;

/// <summary>Options that take a list with commas, for instance <c>--loads low,high</c>.</summary>
public static class ListOption
{
    private delegate bool Parser<T>(string text, out T value);

    /// <summary>A list of names of <typeparamref name="T"/>.</summary>
    public static Option<T[]> OfNames<T>(string name, string text, params T[] defaults) where T : struct, Enum =>
        Create(name, $"{text} One or more of {string.Join(',', Enum.GetNames<T>().Select(Camel))}.", defaults, (string item, out T value) =>
            Enum.TryParse(item, ignoreCase: true, out value) && Enum.IsDefined(value) && !char.IsAsciiDigit(item[0]));

    /// <summary>A list of whole numbers in a range.</summary>
    public static Option<int[]> OfCounts(string name, string text, int least, int most, params int[] defaults) =>
        Create(name, text, defaults, (string item, out int value) =>
            int.TryParse(item, NumberStyles.None, CultureInfo.InvariantCulture, out value) && value >= least && value <= most);

    /// <summary>A list of percentages.</summary>
    public static Option<double[]> OfPercents(string name, string text, params double[] defaults) =>
        Create(name, text, defaults, (string item, out double value) =>
            double.TryParse(item, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out value) && value is >= 0 and <= 100);

    /// <summary>A list of numbers in a range, which may repeat.</summary>
    public static Option<double[]> OfNumbers(string name, string text, double least, double most, params double[] defaults) =>
        Create(name, text, defaults, (string item, out double value) =>
            double.TryParse(item, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out value)
            && value >= least && value <= most, repeats: true);

    /// <summary>A name as it is written on the command line and in JSON.</summary>
    public static string Camel(string name) => char.ToLowerInvariant(name[0]) + name[1..];

    private static Option<T[]> Create<T>(string name, string text, T[] defaults, Parser<T> parse, bool repeats = false) => new(name)
    {
        Description = text,
        DefaultValueFactory = _ => defaults,
        CustomParser = result => Parse(name, result, parse, repeats),
    };

    private static T[] Parse<T>(string name, ArgumentResult result, Parser<T> parse, bool repeats)
    {
        var values = new List<T>();
        foreach (var item in result.Tokens.SelectMany(
            token => token.Value.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)))
        {
            if (parse(item, out var value))
            {
                if (repeats || !values.Contains(value))
                    values.Add(value);
            }
            else
            {
                result.AddError($"{name} does not take '{item}'.");
            }
        }
        if (values.Count == 0)
            result.AddError($"{name} is empty.");
        return [.. values];
    }
}
