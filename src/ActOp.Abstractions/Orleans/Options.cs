using System.Globalization;
using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Runtime.Configuration;

namespace Orleans;

/// <summary>Says what options are set to. Silos and clients log what all formatters of their services say when they start.</summary>
public interface IOptionFormatter
{
    /// <summary>The name of the options.</summary>
    string Name { get; }

    /// <summary>A line for each setting.</summary>
    IEnumerable<string> Format();
}

/// <summary>Says what options of one class are set to.</summary>
/// <typeparam name="T">The class of the options.</typeparam>
public interface IOptionFormatter<T> : IOptionFormatter
{
}

/// <summary>Finds the formatters of named options.</summary>
/// <typeparam name="T">The class of the options.</typeparam>
public interface IOptionFormatterResolver<T>
{
    /// <summary>The formatter of the options of that name.</summary>
    IOptionFormatter<T> Resolve(string name);
}

/// <summary>The value of the marked setting is not shown.</summary>
[AttributeUsage(AttributeTargets.Property)]
public class RedactAttribute : Attribute
{
    /// <summary>What is shown in place of the value.</summary>
    public virtual string Redact(object? value) => "REDACTED";
}

/// <summary>Of the marked setting, a connection string, the passwords and keys are not shown.</summary>
[AttributeUsage(AttributeTargets.Property)]
public class RedactConnectionStringAttribute : RedactAttribute
{
    /// <inheritdoc/>
    public override string Redact(object? value) => ConfigUtilities.Redact(value as string, base.Redact(value));
}

/// <summary>Texts for options.</summary>
public static class OptionFormattingUtilities
{
    /// <summary>A name and a value as text.</summary>
    /// <param name="name">The name.</param>
    /// <param name="value">The value.</param>
    /// <param name="formatting">A format for the name and the value; null for <c>{0}: {1}</c>.</param>
    public static string Format<T>(string name, T value, string? formatting = null) =>
        string.Format(CultureInfo.InvariantCulture, formatting ?? "{0}: {1}", name, value?.ToString() ?? "");

    /// <summary>The full name of a class, and a name of one of its instances.</summary>
    /// <param name="name">The name; null for the class alone.</param>
    /// <param name="formatting">A format for the class and the name; null for <c>{0}-{1}</c>.</param>
    public static string Name<TOptions>(string? name = null, string? formatting = null) =>
        name is null && formatting is null
            ? typeof(TOptions).FullName!
            : string.Format(CultureInfo.InvariantCulture, formatting ?? "{0}-{1}", typeof(TOptions).FullName, name);
}

/// <summary>
/// Logs what the formatters of services say. One that throws is logged in place of its options; the others go on.
/// </summary>
public abstract partial class OptionsLogger
{
    private readonly ILogger _logger;
    private readonly IServiceProvider _services;

    /// <summary>Creates the logger.</summary>
    /// <param name="logger">Gets the lines.</param>
    /// <param name="services">Have the formatters.</param>
    protected OptionsLogger(ILogger logger, IServiceProvider services)
    {
        _logger = logger;
        _services = services;
    }

    /// <summary>Logs what all formatters of the services say.</summary>
    public void LogOptions() => LogOptions(_services.GetServices<IOptionFormatter>());

    /// <summary>Logs what formatters say.</summary>
    public void LogOptions(IEnumerable<IOptionFormatter> formatters)
    {
        ArgumentNullException.ThrowIfNull(formatters);
        if (!_logger.IsEnabled(LogLevel.Information))
            return;
        foreach (var formatter in formatters)
        {
            try
            {
                Options(_logger, formatter.Name, string.Join(Environment.NewLine, formatter.Format()));
            }
#pragma warning disable CA1031 // A formatter of the application must not prevent the start.
            catch (Exception exception)
#pragma warning restore CA1031
            {
                OptionsFailed(_logger, formatter.GetType(), exception);
            }
        }
    }

    [LoggerMessage(1280, LogLevel.Information, "Options {Name}:\n{Settings}")]
    private static partial void Options(ILogger logger, string name, string settings);

    [LoggerMessage(1281, LogLevel.Warning, "The formatter of options {Formatter} has failed")]
    private static partial void OptionsFailed(ILogger logger, Type formatter, Exception exception);
}

/// <summary>A line for each readable property; lists with their first items.</summary>
internal class PropertyFormatter<T>(string name, T options) : IOptionFormatter<T>
    where T : class
{
    private const int MaxItems = 50;

    public string Name { get; } = OptionFormattingUtilities.Name<T>(name.Length == 0 ? null : name);

    public IEnumerable<string> Format() =>
        typeof(T).GetProperties(BindingFlags.Public | BindingFlags.Instance)
            .Where(static property => property.GetMethod is not null && property.GetIndexParameters().Length == 0)
            .Select(property => OptionFormattingUtilities.Format(property.Name, Show(property)));

    private string Show(PropertyInfo property)
    {
        var value = property.GetValue(options);
        if (property.GetCustomAttribute<RedactAttribute>(inherit: true) is { } redacted)
            return redacted.Redact(value);
        return value switch
        {
            string text => text,
            System.Collections.IEnumerable items => string.Join(", ", items.Cast<object?>().Take(MaxItems)),
            IFormattable formattable => formattable.ToString(null, CultureInfo.InvariantCulture),
            _ => value?.ToString() ?? "",
        };
    }
}

/// <summary>The formatter of options without a name.</summary>
internal sealed class DefaultFormatter<T>(IOptions<T> options) : PropertyFormatter<T>("", options.Value)
    where T : class, new();

/// <summary>The formatters of options by their names.</summary>
internal sealed class DefaultFormatterResolver<T>(IOptionsMonitor<T> options) : IOptionFormatterResolver<T>
    where T : class
{
    public IOptionFormatter<T> Resolve(string name) => new PropertyFormatter<T>(name, options.Get(name));
}

/// <summary>Options of a provider.</summary>
public static class NamedOptionExtensions
{
    /// <summary>The options that were configured under a name.</summary>
    public static TOption GetOptionsByName<TOption>(this IServiceProvider services, string name)
        where TOption : class, new()
    {
        ArgumentNullException.ThrowIfNull(services);
        return services.GetRequiredService<IOptionsMonitor<TOption>>().Get(name);
    }
}
