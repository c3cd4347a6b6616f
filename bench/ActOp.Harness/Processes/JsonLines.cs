using System.Text.Json;
using System.Text.Json.Serialization;

namespace ActOp.Harness.Processes;

/// <summary>The JSON of the experiment: camel case, enums as text; between processes one object per line.</summary>
public static class JsonLines
{
    /// <summary>Options of a single line.</summary>
    public static JsonSerializerOptions Line { get; } = new(JsonSerializerDefaults.Web)
    {
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase) },
    };

    /// <summary>Options of a file for people.</summary>
    public static JsonSerializerOptions File { get; } =
        new(Line) { WriteIndented = true, NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals };

    /// <summary>Writes <paramref name="value"/> as one line and flushes.</summary>
    public static void Write<T>(TextWriter writer, T value)
    {
        lock (writer)
        {
            writer.WriteLine(JsonSerializer.Serialize(value, Line));
            writer.Flush();
        }
    }

    /// <summary>Reads a line; false when it is something else, for instance a log line.</summary>
    public static bool TryRead<T>(string line, out T? value) where T : class
    {
        value = null;
        if (!line.StartsWith('{'))
            return false;
        try
        {
            value = JsonSerializer.Deserialize<T>(line, Line);
        }
        catch (JsonException)
        {
            return false;
        }
        return value is not null;
    }
}
